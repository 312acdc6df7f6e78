"""Where the source corpora are published, how to get them and how to recognise them."""
