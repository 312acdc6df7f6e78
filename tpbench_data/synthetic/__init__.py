"""Our own dialogues, written by a grammar: every answer is confined to three authored turns."""
