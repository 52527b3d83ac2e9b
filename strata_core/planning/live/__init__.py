"""What is live: shown, examined, promoted to another environment, taken back."""
