; Facts of a JavaScript file. One capture a pattern, named after the event javascript.py handles; all of it runs in C.

(import_statement) @import
(export_statement) @export
[(lexical_declaration) (variable_declaration)] @vars
(variable_declarator) @var
[
  (function_declaration) (generator_function_declaration) (function_expression) (generator_function) (arrow_function)
  (method_definition)
] @function
[(class_declaration) (class)] @class
(field_definition) @field
(pair) @pair
[(statement_block) (for_statement) (catch_clause) (switch_body)] @block
(for_in_statement) @forin
(assignment_expression) @assign
[(call_expression) (new_expression)] @call
(return_statement (_) @return)

; names used as values
(arguments [(identifier) (member_expression)] @ref)
(array [(identifier) (member_expression)] @ref)
(pair value: [(identifier) (member_expression)] @ref)
(shorthand_property_identifier) @ref
(spread_element [(identifier) (member_expression)] @ref)
(variable_declarator value: [(identifier) (member_expression)] @ref)
(assignment_expression right: [(identifier) (member_expression)] @ref)
(assignment_pattern right: [(identifier) (member_expression)] @ref)
(return_statement [(identifier) (member_expression)] @ref)
(arrow_function body: [(identifier) (member_expression)] @ref)
(ternary_expression [(identifier) (member_expression)] @ref)
(binary_expression [(identifier) (member_expression)] @ref)
(field_definition value: [(identifier) (member_expression)] @ref)
(export_statement value: [(identifier) (member_expression)] @ref)
(member_expression object: (identifier) @ref)
(decorator [(identifier) (member_expression)] @ref)
