; Facts of a C++ file; all of it runs in C. The first capture of a pattern names the event that declared.py and cpp.py handle.

(preproc_include path: (_) @name) @import
(preproc_def name: (identifier) @name) @macro
(preproc_function_def name: (identifier) @name) @macro
(namespace_definition name: (_)? @name body: (declaration_list) @body) @space
(using_declaration) @using

(class_specifier name: (_) @name body: (field_declaration_list) @body) @class
(struct_specifier name: (_) @name body: (field_declaration_list) @body) @class
(union_specifier name: (_) @name body: (field_declaration_list) @body) @class
(enum_specifier name: (_) @name body: (enumerator_list) @body) @class
(enumerator name: (identifier) @name) @value
(alias_declaration name: (type_identifier) @name) @alias
(type_definition declarator: (_) @name) @alias

(function_definition declarator: (_) @name) @function
(field_declaration declarator: (_) @name) @field
(declaration declarator: (_) @name) @local
(parameter_declaration declarator: (_) @name) @param
(optional_parameter_declaration declarator: (_) @name) @param
(type_parameter_declaration (type_identifier) @name) @typeparam
(for_range_loop declarator: (_) @name) @range
(translation_unit (expression_statement (call_expression arguments: (argument_list) @name)) @made)
(declaration_list (expression_statement (call_expression arguments: (argument_list) @name)) @made)

(lambda_expression) @block
(compound_statement) @block
(for_statement) @block
(for_range_loop) @block
(if_statement) @block
(catch_clause) @block

(call_expression) @call
(new_expression) @call

; functions used as values
(argument_list [(identifier) (qualified_identifier) (pointer_expression)] @ref)
(initializer_list [(identifier) (qualified_identifier) (pointer_expression)] @ref)
(initializer_pair value: [(identifier) (qualified_identifier) (pointer_expression)] @ref)
(assignment_expression right: [(identifier) (qualified_identifier) (pointer_expression)] @ref)
