"""The product's library: model, naming, ports, adapters and roots."""
