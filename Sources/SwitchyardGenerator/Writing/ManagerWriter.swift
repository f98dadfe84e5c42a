/// Generates managers and their methods.
struct ManagerWriter {
    let plan: ClientPlan
    let names: TypeNames
    let options: GeneratorOptions
    private var prefix: String { options.prefix }

    /// Adds the declaration of a manager with its first methods.
    func writeHead(_ manager: ClientPlan.Manager, _ methods: [Method], to code: inout CodeLines) {
        code.documentation(manager.description, fallback: "The operations of `\(manager.propertyName)`.")
        code.block("\(prefix)final class \(manager.typeName): APIManager") { code in
            if options.access == .public { code.line("/// The client that sends the requests.") }
            code.line("\(prefix)let client: NetworkClient")
            if options.access == .public { code.line("/// The common properties of the responses.") }
            code.line("\(prefix)let module = \(plan.name).module")
            code.line()
            if options.access == .public { code.line("/// Creates a manager with a scope of a client.") }
            code.block("\(prefix)init(client: NetworkClient)") { $0.line("self.client = client.scoped()") }
            for method in methods { write(method, to: &code) }
        }
    }

    /// Adds an extension with more methods of a manager, for a further file.
    func writeExtension(_ manager: ClientPlan.Manager, _ methods: [Method], to code: inout CodeLines) {
        code.line("extension \(manager.typeName) {")
        code.indented { code in
            for (index, method) in methods.enumerated() { write(method, to: &code, isFirst: index == 0) }
        }
        code.line("}")
    }

    /// Adds the methods for an operation: the call, and methods for its configuration and its list if it has them.
    func write(_ method: Method, to code: inout CodeLines, isFirst: Bool = false) {
        if !isFirst { code.line() }
        let call = MethodCode(method: method, names: names)
        if call.needsDescription { writeDescription(method, call, &code) }
        if method.hasValidator { writeResponse(method, call, &code) }
        writeDocumentation(method, &code, nil)
        let head = "\(prefix)func \(SwiftName.escaped(method.name))("
        code.list(head, call.parameters.map { .text($0) }, ") async throws(APIError)\(call.returnClause) {")
        code.indented { code in
            if method.hasValidator { return writeValue(method, call, &code) }
            if !call.needsDescription, call.writeDirectCall(to: &code) { return }
            writeConfiguration(method, call, &code)
            code.line(call.returnStatement)
        }
        code.line("}")
        if let list = method.list {
            code.line()
            ListWriter(method: method, list: list, names: names, prefix: prefix).write(to: &code)
        }
        if let form = method.withForm { write(form, to: &code) }
    }

    /// Adds the method that returns the configuration of the call.
    private func writeDescription(_ method: Method, _ call: MethodCode, _ code: inout CodeLines) {
        let text = "Returns the configuration of `\(method.name)` for reading its response as events or into a file."
        writeDocumentation(method, &code, text)
        let head = "\(prefix)func \(method.name(of: .configuration))("
        code.list(head, call.parameters.map { .text($0) }, ")\(call.effect) -> APIConfiguration {")
        code.indented { call.writeCall(to: &$0, isReturned: true) }
        code.line("}")
        code.line()
    }

    /// Adds the method that returns the value together with the header fields of the response.
    private func writeResponse(_ method: Method, _ call: MethodCode, _ code: inout CodeLines) {
        let text = "Returns the response of `\(method.name)` with its header fields, such as `ETag`."
        writeDocumentation(method, &code, text)
        let head = "\(prefix)func \(method.name(of: .response))("
        let type = "APIResponse<\(call.returnType ?? "EmptyBody")>"
        code.list(head, call.parameters.map { .text($0) }, ") async throws(APIError) -> \(type) {")
        code.indented { code in
            writeConfiguration(method, call, &code)
            code.line(call.responseStatement)
        }
        code.line("}")
        code.line()
    }

    /// Adds a statement that returns the value of the method that `writeResponse` adds.
    private func writeValue(_ method: Method, _ call: MethodCode, _ code: inout CodeLines) {
        let name = method.name(of: .response)
        let head = "\(call.returnType == nil ? "_ = " : "")try await \(call.selfPrefix(name))\(name)("
        code.list(head, call.arguments.map { .text($0) }, call.returnType == nil ? ")" : ").value")
    }

    /// Adds a local constant that contains the configuration of the call.
    private func writeConfiguration(_ method: Method, _ call: MethodCode, _ code: inout CodeLines) {
        guard call.needsDescription else { return call.writeCall(to: &code, isReturned: false) }
        let word = call.effect.isEmpty ? "" : "try "
        let name = method.name(of: .configuration)
        code.list(
            "let \(call.callName) = \(word)\(call.selfPrefix(name))\(name)(",
            call.arguments.map { .text($0) },
            ")"
        )
    }

    private func writeDocumentation(_ method: Method, _ code: inout CodeLines, _ text: String?) {
        let head = method.operation
        let verb = head.method.uppercased()
        let place = "`\(verb) \(head.path)`"
        code.documentation(text ?? head.summary ?? head.description, fallback: "Sends \(place).")
        if head.isDeprecated { code.line("@available(*, deprecated)") }
    }
}
