; Facts of a C# file; all of it runs in C. The first capture of a pattern names the event that declared.py and csharp.py handle.

(namespace_declaration name: (_) @name body: (_) @body) @space
(file_scoped_namespace_declaration name: (_) @name) @space
(using_directive) @import

[(class_declaration) (interface_declaration) (struct_declaration) (record_declaration) (enum_declaration)] @class
(delegate_declaration) @delegate
(enum_member_declaration name: (identifier) @name) @const

[(method_declaration) (constructor_declaration) (destructor_declaration) (operator_declaration) (conversion_operator_declaration)
 (local_function_statement)] @function
[(property_declaration) (indexer_declaration) (event_declaration)] @property
[(field_declaration) (event_field_declaration)] @field

[(block) (for_statement) (foreach_statement) (using_statement) (catch_clause) (switch_section) (switch_expression_arm)
 (query_expression)] @block
[(lambda_expression) (anonymous_method_expression)] @lambda
(parameter name: (identifier) @name) @param
(local_declaration_statement (variable_declaration) @local)
(using_statement (variable_declaration) @local)
(for_statement (variable_declaration) @local)
(foreach_statement left: (identifier) @name) @each
(from_clause name: (identifier) @name) @each
[(declaration_pattern) (declaration_expression) (catch_declaration) (recursive_pattern)] @pattern

[(invocation_expression) (object_creation_expression) (implicit_object_creation_expression)] @call
(constructor_initializer) @initializer
(primary_constructor_base_type) @initializer
(base_list (argument_list)) @initializer

(parameter type: (_) @tref)
(variable_declaration type: (_) @tref)
(property_declaration type: (_) @tref)
(method_declaration returns: (_) @tref)
(cast_expression type: (_) @tref)
(typeof_expression type: (_) @tref)
(as_expression right: (_) @tref)
(is_expression right: (_) @tref)
(is_pattern_expression pattern: (constant_pattern (_) @tref))
(declaration_pattern type: (_) @tref)
(catch_declaration type: (_) @tref)
(foreach_statement type: (_) @tref)
(declaration_expression type: (_) @tref)
(type_argument_list (_) @tref)
(array_type type: (_) @tref)
(nullable_type type: (_) @tref)
(attribute name: (_) @attribute)
(member_access_expression expression: (identifier) @ref)
(argument [(identifier) (member_access_expression)] @value)
(assignment_expression right: [(identifier) (member_access_expression)] @value)
(return_statement [(identifier) (member_access_expression)] @value)
