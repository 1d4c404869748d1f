; Facts of a Go file; all of it runs in C. The first capture of a pattern that has a handler names the event (declared.py, go.py).

(package_clause (package_identifier) @name) @space
(import_spec) @import

(type_spec name: (type_identifier) @name) @class
(type_alias name: (type_identifier) @name) @alias
(type_parameter_declaration name: (identifier) @name) @typeparam
(field_declaration) @field
(interface_type (type_elem) @embedded)
(interface_type (method_elem name: (field_identifier) @name) @declared)

(function_declaration name: (identifier) @name body: (block)? @body) @function
(method_declaration name: (field_identifier) @name body: (block)? @body) @method
(func_literal) @block
[(if_statement) (for_statement) (expression_switch_statement) (type_switch_statement)] @block
[(expression_case) (type_case) (default_case) (communication_case)] @block
(if_statement consequence: (block) @block)
(if_statement alternative: (block) @block)
(for_statement body: (block) @block)
(statement_list (block) @block)

(function_declaration parameters: (parameter_list [(parameter_declaration) (variadic_parameter_declaration)] @param))
(function_declaration result: (parameter_list (parameter_declaration name: (identifier)) @param))
(method_declaration parameters: (parameter_list [(parameter_declaration) (variadic_parameter_declaration)] @param))
(method_declaration result: (parameter_list (parameter_declaration name: (identifier)) @param))
(func_literal parameters: (parameter_list [(parameter_declaration) (variadic_parameter_declaration)] @param))
(func_literal result: (parameter_list (parameter_declaration name: (identifier)) @param))

[(var_spec) (const_spec) (short_var_declaration) (range_clause) (receive_statement)] @local

[(call_expression) (type_conversion_expression type: (generic_type))] @call

; names used as values, and types
(argument_list [(identifier) (selector_expression)] @ref)
(keyed_element value: (literal_element [(identifier) (selector_expression)] @ref))
(literal_value (literal_element [(identifier) (selector_expression)] @ref))
(expression_list [(identifier) (selector_expression)] @ref)
(send_statement value: [(identifier) (selector_expression)] @ref)
(binary_expression [(identifier) (selector_expression)] @ref)
(qualified_type) @type
(type_identifier) @type
