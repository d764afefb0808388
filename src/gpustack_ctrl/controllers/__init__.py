"""Effects of ours: each controller reads the caches once, decides by pure code, and acts."""
