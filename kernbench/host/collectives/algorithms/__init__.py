"""The shipped algorithms, a module each; ``configs/ccl.yaml`` says which collective uses which."""
