"""The embedded home: `sless up`, its parts and what they are made of."""
