"""Publishing releases and getting them back: the Hugging Face Hub, any endpoint that speaks its protocol, a folder."""
