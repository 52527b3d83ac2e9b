"""What is served of products: runtime views from contracts and observations, published, renewed, watched."""
