import Foundation

/// Generates the signature and the call of a method of a manager.
struct MethodCode {
    let method: Method
    let names: TypeNames
    /// Expressions that are sent in place of parameters that the generated method does not have, by parameter name.
    ///
    /// If the expression is empty, the parameter is not sent.
    var replaced: [String: String] = [:]

    /// Whether the manager also has a method that returns the configuration of the call, for event streams and
    /// downloads.
    var needsDescription: Bool {
        if case .bytes = method.result { return true }
        return method.hasEvents
    }

    /// Whether the code that creates the configuration of the call can throw.
    var canFail: Bool {
        if let kind = method.body?.kind {
            switch kind {
            case .form, .multipart: return true
            default: break
            }
        }
        return method.parameters.contains { parameter in
            if replaced[parameter.name] != nil { return false }
            if case .json = parameter.style { return true }
            return !names.isParameter(parameter.type)
        }
    }

    var effect: String { canFail ? " throws(APIError)" : "" }
    /// The name of the local constant that contains the configuration of the call.
    var callName: String { method.parameters.contains { $0.swiftName == "call" } ? "request" : "call" }

    /// Returns `self.` if a parameter has the name of the manager's method that is called, otherwise an empty string.
    func selfPrefix(_ name: String) -> String {
        method.parameters.contains { $0.swiftName == name } ? "self." : ""
    }

    // MARK: - Signature

    /// The parameters of the method: first the required parameters, then the body, then the optional parameters.
    var parameters: [String] {
        let shown = method.parameters.filter { replaced[$0.name] == nil }
        func text(_ parameter: Method.Parameter) -> String {
            let type = names.name(parameter.type)
            let name = SwiftName.label(parameter.swiftName)
            if parameter.isDemanded { return "\(name): \(type)" }
            let constant = parameter.isRequired ? parameter.constant : nil
            return constant.map { "\(name): \(type) = \(SwiftName.literal($0))" } ?? "\(name): \(type)? = nil"
        }
        var result = shown.filter(\.isDemanded).map(text)
        if let body = method.body, body.isRequired {
            result.append("\(body.label == "body" ? "" : "\(body.label) ")body: \(bodyType(body))")
        }
        result += shown.filter { !$0.isDemanded }.map(text)
        if let body = method.body, !body.isRequired {
            if case .bytes = body.kind {
                result.append("body: RequestBody = .none")
            } else {
                result.append("body: \(bodyType(body))? = nil")
            }
        }
        return result + method.options.map { "\($0.name): \($0.type) = \($0.value)" }
    }

    /// The arguments with which a generated method passes its own parameters on to a method with the same parameters.
    ///
    /// A replaced parameter is passed as its expression.
    var arguments: [String] {
        func text(_ name: String) -> String { "\(SwiftName.label(name)): \(SwiftName.escaped(name))" }
        func argument(_ parameter: Method.Parameter) -> String? {
            guard let expression = replaced[parameter.name] else { return text(parameter.swiftName) }
            return expression.isEmpty ? nil : "\(SwiftName.label(parameter.swiftName)): \(expression)"
        }
        var result = method.parameters.filter(\.isDemanded).compactMap(argument)
        if let body = method.body, body.isRequired { result.append("\(body.label): body") }
        result += method.parameters.filter { !$0.isDemanded }.compactMap(argument)
        if method.body?.isRequired == false { result.append(text("body")) }
        return result + method.optionNames.map(text)
    }

    /// The name of a local constant that contains the result of the call.
    var resultName: String { method.parameters.contains { $0.swiftName == "list" } ? "response" : "list" }

    private func bodyType(_ body: Method.Body) -> String {
        switch body.kind {
        case .bytes: return "RequestBody"
        case .text: return "String"
        case .json, .form, .multipart: return names.name(body.type)
        }
    }

    var returnClause: String { returnType.map { " -> \($0)" } ?? "" }

    /// The type of the value, or `nil` if the method returns no value.
    var returnType: String? {
        switch method.result {
        case .none: nil
        case .value(let type, let isOptional): "\(names.name(type))\(isOptional ? "?" : "")"
        case .text: "String"
        case .bytes: "Data"
        }
    }

    var returnStatement: String {
        switch method.result {
        case .none: return "try await \(selfPrefix("send"))send(\(callName))"
        case .value(let type, let isOptional):
            let type = isOptional ? "\(names.name(type))?.self, " : ""
            return "return try await \(selfPrefix("value"))value(\(type)for: \(callName))"
        case .text: return "return try await \(selfPrefix("response"))response(for: \(callName), with: .string).value"
        case .bytes: return "return try await \(selfPrefix("response"))response(for: \(callName), with: .data).value"
        }
    }

    /// The statement that makes the call and returns its value with the status and the header fields.
    var responseStatement: String {
        let arguments =
            switch method.result {
            case .none: "for: \(callName), with: .empty"
            case .value(_, isOptional: false): "for: \(callName)"
            case .value(let type, isOptional: true): "\(names.name(type))?.self, for: \(callName)"
            case .text: "for: \(callName), with: .string"
            case .bytes: "for: \(callName), with: .data"
            }
        return "return try await \(selfPrefix("response"))response(\(arguments))"
    }

    // MARK: - Call

    /// Adds code that creates the configuration of the call.
    ///
    /// The result is a local constant, or the return value if `isReturned` is `true`.
    func writeCall(to code: inout CodeLines, isReturned: Bool) {
        let statements = furtherStatements
        let word = statements.isEmpty ? "let" : "var"
        let attempt = canFail ? "try " : ""
        let head = isReturned && statements.isEmpty ? attempt : "\(word) \(callName) = \(attempt)"
        code.list("\(head)APIConfiguration(", callArguments, ")")
        for statement in statements { code.line(statement) }
        if isReturned, !statements.isEmpty { code.line("return \(callName)") }
    }

    /// Adds one statement that makes the call and returns its value.
    ///
    /// Returns `false` without adding code if the call needs further statements, or its result is not a JSON value.
    func writeDirectCall(to code: inout CodeLines) -> Bool {
        guard case .value(_, isOptional: false) = method.result, furtherStatements.isEmpty else { return false }
        code.list("try await \(selfPrefix("value"))value(", callArguments, ")")
        return true
    }

    private var furtherStatements: [String] {
        var statements = method.optionNames.map { "\(callName).\($0) = \($0)" }
        switch method.access {
        case nil: break
        case Method.Access.none?: statements.append("\(callName).usesCredentials = false")
        case .optional?: statements.append("\(callName).allowsAnonymous = true")
        }
        if method.body != nil, ["get", "head"].contains(method.operation.method) {
            statements.append("\(callName).allowsUnusualBody = true")
        }
        return statements
    }

    private var callArguments: [CodeLines.Element] {
        var result: [CodeLines.Element] = [.text(".\(method.operation.method)"), .text(SwiftName.literal(path))]
        let values = method.parameters.filter { $0.location == .path }.map {
            "\(SwiftName.literal(Self.variable($0))): \(value($0))"
        }
        if !values.isEmpty { result.append(.list("values: [", values, "]")) }
        let query = method.parameters.filter { $0.location == .query && replaced[$0.name] != "" }.map {
            "\(SwiftName.literal($0.name)): \(value($0))"
        }
        let fixed = fixedQuery.map { "\(SwiftName.literal($0.name)): \(SwiftName.literal($0.value))" }
        if !(query + fixed).isEmpty { result.append(.list("query: [", query + fixed, "]")) }
        let headers = self.headers
        if !headers.isEmpty { result.append(.list("headers: [", headers, "]")) }
        if let body = method.body {
            let styles = Self.arguments(of: body.fields)
            if case .form = body.kind, !styles.isEmpty {
                result.append(.call("body: .form(", [.text("encoding: body")] + styles, ")"))
            } else {
                result.append(.text("body: \(bodyValue(body))"))
            }
        }
        let deep = method.deepLists.map(SwiftName.literal)
        if !deep.isEmpty { result.append(.list("deepLists: [", deep, "]")) }
        let exploded = method.exploded.filter { replaced[$0] == nil }.map(SwiftName.literal)
        if !exploded.isEmpty { result.append(.list("exploded: [", exploded, "]")) }
        return result
    }

    private static func arguments(of styles: Method.FieldStyles) -> [CodeLines.Element] {
        let lists = [
            ("deepLists", styles.deepLists.map(SwiftName.literal)),
            ("exploded", styles.exploded.map(SwiftName.literal)),
            ("joined", styles.joined.map { "\(SwiftName.literal($0.name)): \(SwiftName.literal($0.separator))" }),
        ]
        return lists.filter { !$0.1.isEmpty }.map { name, texts in .list("\(name): [", texts, "]") }
    }

    /// The path without its query and fragment.
    ///
    /// Each placeholder is an expression of RFC 6570 with the variable of its parameter.
    private var path: String {
        let path = method.operation.path.prefix { $0 != "#" && $0 != "?" }.drop { $0 == "/" }
        return String(path).replacing(/\{([^{}]+)\}/) { match in
            let parameter = method.parameters.first { $0.location == .path && $0.name == match.1 }
            return parameter.map(Self.expression) ?? String(match.0)
        }
    }

    private static func expression(_ parameter: Method.Parameter) -> String {
        guard case .expanded(let mark, let explodes) = parameter.style else { return "{\(variable(parameter))}" }
        return "{\(mark)\(variable(parameter))\(explodes ? "*" : "")}"
    }

    /// Returns the variable of a parameter in the template of the path: its Swift name, or its own name if the name is
    /// part of the path.
    ///
    /// Characters that a variable cannot contain are percent-encoded (RFC 6570 section 2.3).
    private static func variable(_ parameter: Method.Parameter) -> String {
        var name = parameter.swiftName
        if case .expanded(";", _) = parameter.style { name = parameter.name }
        return name.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            guard byte >= 0x80 || !(character.isLetter || character.isNumber || character == "_") else {
                return String(character)
            }
            return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        .joined()
    }

    /// The query parameters that are part of the operation's path in the document.
    private var fixedQuery: [(name: String, value: String)] {
        guard let text = method.operation.path.firstMatch(of: /\?([^#]*)/)?.1 else { return [] }
        return text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return (
                parts[0].removingPercentEncoding ?? parts[0],
                parts.count > 1 ? parts[1].removingPercentEncoding ?? parts[1] : ""
            )
        }
    }

    private var headers: [String] {
        var fields = method.parameters.filter { $0.location == .header }.map {
            "\(SwiftName.literal($0.name)): \(value($0))"
        }
        let cookies = method.parameters.filter { $0.location == .cookie }.map {
            "\(SwiftName.literal($0.name)): \(value($0))"
        }
        if !cookies.isEmpty { fields.append("\"Cookie\": Parameters.cookies([\(cookies.joined(separator: ", "))])") }
        if case .json(let type)? = method.body?.kind, type != "application/json", !type.contains("*") {
            fields.append("\"Content-Type\": \(SwiftName.literal(type))")
        }
        if case .bytes(let type)? = method.body?.kind, type != "application/octet-stream", !type.contains("*") {
            fields.append("\"Content-Type\": \(SwiftName.literal(type))")
        }
        return fields
    }

    /// Returns the expression for the value of a parameter.
    private func value(_ parameter: Method.Parameter) -> String {
        if let expression = replaced[parameter.name] { return expression }
        let name = SwiftName.escaped(parameter.swiftName)
        let mark = parameter.isRequired ? "" : "?"
        // Without its required parameter, a request could have another effect, such as the removal of all things.
        let fallback = parameter.isRequired && parameter.location == .query ? #" ?? """# : ""
        switch parameter.style {
        case .json: return "jsonText(\(name))"
        case .joined(let separator) where parameter.location != .cookie && names.isParameter(parameter.type):
            return "\(name)\(mark).joined(by: \(SwiftName.literal(separator)))\(fallback)"
        case .joined(let separator) where parameter.location == .query:
            return "parameter(\(name)).joined(by: \(SwiftName.literal(separator)))\(fallback)"
        case .pairs where !names.isParameter(parameter.type): return "parameter(\(name)).pairs\(fallback)"
        default: break
        }
        if parameter.type == .date(.unixTime) { return "\(name)\(mark).unixSeconds" }
        return names.isParameter(parameter.type) ? name : "parameter(\(name))"
    }

    private func bodyValue(_ body: Method.Body) -> String {
        let mark = body.isRequired
        switch body.kind {
        case .json: return mark ? ".json(body)" : "body.map { .json($0) } ?? .none"
        case .text(let type):
            let arguments = "contentType: \(SwiftName.literal(type))"
            return mark ? ".text(body, \(arguments))" : "body.map { .text($0, \(arguments)) } ?? .none"
        case .bytes: return "body"
        case .form: return ".form(encoding: body)"
        case .multipart: return ".multipart(body)"
        }
    }
}
