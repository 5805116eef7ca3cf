"""Tables in workbooks: sheets of Excel and OpenDocument."""
