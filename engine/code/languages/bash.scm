; functions, commands, and assignments behind export, readonly, declare
(function_definition) @function
(command) @command
(declaration_command (variable_assignment) @setting)
