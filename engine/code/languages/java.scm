; Facts of a Java file; all of it runs in C. The first capture of a pattern names the event that declared.py and java.py handle.

(package_declaration [(scoped_identifier) (identifier)] @name) @space
(import_declaration) @import

(class_declaration name: (identifier) @name body: (_) @body) @class
(interface_declaration name: (identifier) @name body: (_) @body) @class
(enum_declaration name: (identifier) @name body: (_) @body) @class
(record_declaration name: (identifier) @name body: (_) @body) @class
(annotation_type_declaration name: (identifier) @name body: (_) @body) @class
(object_creation_expression (class_body) @anonymous)
(enum_constant name: (identifier) @name) @const
(enum_constant (class_body) @anonymous)

(method_declaration name: (identifier) @name body: (block)? @body) @method
(constructor_declaration name: (identifier) @name body: (_) @body) @method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @method
(annotation_type_element_declaration name: (identifier) @name) @method
(field_declaration) @field
(constant_declaration) @field

[(block) (for_statement) (enhanced_for_statement) (try_with_resources_statement) (catch_clause) (switch_rule)
 (switch_block_statement_group) (static_initializer)] @block
(lambda_expression) @lambda
(formal_parameter name: (identifier) @name) @param
(spread_parameter) @param
(catch_formal_parameter name: (identifier) @name) @caught
(resource name: (identifier) @name) @local
(local_variable_declaration) @local
(enhanced_for_statement name: (identifier) @name body: (_) @body) @each
(instanceof_expression name: (identifier) @name) @pattern
(type_pattern) @pattern
(record_pattern_component) @pattern

[(method_invocation) (object_creation_expression) (explicit_constructor_invocation)] @call
(enum_constant arguments: (_)) @call

(type_identifier) @tref
(method_reference) @ref
(field_access object: (identifier) @ref)
(marker_annotation name: (_) @ref)
(annotation name: (_) @ref)
