"""Questions of any table become a dataset, whose gold is checked: ``graphkit init`` and ``graphkit check``."""
