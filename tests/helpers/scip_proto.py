"""A decoder of SCIP that shares nothing with mog's: protoc compiles the published field numbers and types, google's runtime reads.

Called by tests about SCIP. What may not come in: anything of ``mog.engine.code.scip``.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from types import ModuleType

SCHEMA = """
syntax = "proto3";
package scip;
message Index { Metadata metadata = 1; repeated Document documents = 2; repeated SymbolInformation external_symbols = 3; }
message Metadata { int32 version = 1; ToolInfo tool_info = 2; string project_root = 3; int32 text_document_encoding = 4; }
message ToolInfo { string name = 1; string version = 2; repeated string arguments = 3; }
message Document {
  string relative_path = 1;
  repeated Occurrence occurrences = 2;
  repeated SymbolInformation symbols = 3;
  string language = 4;
  string text = 5;
  int32 position_encoding = 6;
}
message Occurrence {
  repeated int32 range = 1;
  string symbol = 2;
  int32 symbol_roles = 3;
  repeated string override_documentation = 4;
  int32 syntax_kind = 5;
  repeated int32 enclosing_range = 7;
}
message SymbolInformation {
  string symbol = 1;
  repeated string documentation = 3;
  repeated Relationship relationships = 4;
  int32 kind = 5;
  string display_name = 6;
  Document signature_documentation = 7;
  string enclosing_symbol = 8;
}
message Relationship {
  string symbol = 1;
  bool is_reference = 2;
  bool is_implementation = 3;
  bool is_type_definition = 4;
  bool is_definition = 5;
}
"""


@lru_cache(maxsize=1)
def scip_pb2() -> ModuleType:
    """The generated module with ``Index``, ``Document`` and the rest."""
    from grpc_tools import protoc

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "mog_test_scip.proto").write_text(SCHEMA, encoding="utf-8")
        assert protoc.main(["protoc", f"-I{folder}", f"--python_out={folder}", "mog_test_scip.proto"]) == 0
        spec = importlib.util.spec_from_file_location("mog_test_scip_pb2", Path(folder) / "mog_test_scip_pb2.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["mog_test_scip_pb2"] = module
        spec.loader.exec_module(module)
    return module
