"""What product contracts ask of rows before they go live: of models, and of what others make."""
