//! The examiner: drives any MCP server through every failure and says what held.
