"""The command line of the contract engine: `contract-engine`."""
