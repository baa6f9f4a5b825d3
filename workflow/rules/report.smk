"""placeholder while the report is being built"""
