; Facts of a C file; all of it runs in C. c.py asks for the captures by name: a file of C has no nesting to walk.

(preproc_include path: (_) @include)
(preproc_def) @constant
(preproc_function_def) @macro
(function_definition) @function
[(struct_specifier body: (_)) (union_specifier body: (_)) (enum_specifier body: (_))] @class
(field_declaration) @field
(enumerator) @value
(type_definition) @typedef

; declarations outside of functions, wherever a macro has put the grammar
(translation_unit (declaration) @global)
(preproc_ifdef (declaration) @global)
(preproc_if (declaration) @global)
(preproc_else (declaration) @global)
(preproc_elif (declaration) @global)
(declaration_list (declaration) @global)
(ERROR (declaration) @global)

; MACRO(name) { … }: a definition that a macro makes
(translation_unit (expression_statement (call_expression) @made))
(preproc_ifdef (expression_statement (call_expression) @made))
(preproc_if (expression_statement (call_expression) @made))
(preproc_else (expression_statement (call_expression) @made))
(declaration_list (expression_statement (call_expression) @made))
(ERROR (expression_statement (call_expression) @made))

(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @through))
(call_expression function: [(parenthesized_expression) (subscript_expression) (call_expression)] @through)

; parameters and locals that can be called: pointers to functions, and what has a type of another name
(parameter_declaration type: (type_identifier) declarator: [(identifier) @local (pointer_declarator (identifier) @local)])
(declaration type: (type_identifier) declarator: [(identifier) @local (init_declarator declarator: (identifier) @local)])
(function_declarator declarator: (parenthesized_declarator (pointer_declarator (identifier) @local)))
(function_declarator declarator: (parenthesized_declarator (pointer_declarator (array_declarator (identifier) @local))))

; functions used as values
(initializer_pair value: [(identifier) @value_of (pointer_expression (identifier) @value_of)])
(initializer_list [(identifier) @value_of (pointer_expression (identifier) @value_of)])
(argument_list [(identifier) @passed (pointer_expression (identifier) @passed)])
(assignment_expression right: [(identifier) @passed (pointer_expression (identifier) @passed)])
(init_declarator value: [(identifier) @passed (pointer_expression (identifier) @passed)])
(return_statement (identifier) @passed)
(conditional_expression (identifier) @passed)
(ERROR) @error
