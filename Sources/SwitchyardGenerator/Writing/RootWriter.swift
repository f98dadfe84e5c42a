/// Generates the root type of a client, its errors and its services.
struct RootWriter {
    let plan: ClientPlan
    let names: TypeNames
    let options: GeneratorOptions
    private var prefix: String { options.prefix }
    private var isPublic: Bool { options.access == .public }

    /// Adds the root type with a property for each manager.
    func write(to code: inout CodeLines) {
        code.documentation(plan.title, fallback: "The client.")
        code.block("\(prefix)struct \(plan.name): Sendable") { code in
            writeModule(&code)
            code.line()
            for manager in plan.managers {
                code.documentation(
                    manager.description,
                    fallback: isPublic ? "The operations of `\(manager.propertyName)`." : nil,
                    maximumLines: 1
                )
                code.declaration("\(prefix)let \(SwiftName.escaped(manager.propertyName))", manager.typeName)
            }
            code.line()
            code.line("/// Creates all managers.")
            if clients.count > 1 {
                code.line("///")
                code.line("/// Each service has its own client.")
            }
            code.list("\(prefix)init(", clients.map { .text("\($0): NetworkClient") }, ") {")
            code.indented { code in
                for manager in plan.managers {
                    let client = clients[clientIndex(manager.service)]
                    let property = SwiftName.escaped(manager.propertyName)
                    let target = clients.contains(manager.propertyName) ? "self.\(property)" : property
                    code.assignment(target, "\(manager.typeName)(client: \(client))")
                }
            }
            code.line("}")
        }
        writeErrors(&code)
        writeCredentials(&code)
        writeService(&code)
    }

    /// The indexes of the services that managers use, sorted.
    private var usedServices: [Int] { Set(plan.managers.map(\.service)).sorted() }

    private func clientIndex(_ service: Int) -> Int { usedServices.firstIndex(of: service) ?? 0 }

    /// The names of the initializer's client parameters, one for each service.
    private var clients: [String] {
        usedServices.map { service in
            guard service > 0 else { return "client" }
            let words = SwiftName.words(of: String(plan.services[service].name.dropFirst(plan.services[0].name.count)))
            return SwiftName.member(words + ["client"])
        }
    }

    // MARK: - Errors

    private func writeModule(_ code: inout CodeLines) {
        code.line(
            plan.errors.isEmpty
                ? "/// The common properties of all responses." : "/// The error codes by HTTP status."
        )
        guard !plan.errors.isEmpty else {
            guard let body = errorBody else { return code.line("\(prefix)static let module = APIModule()") }
            return code.line("\(prefix)static let module = APIModule(errorBody: \(body))")
        }
        code.list(
            "\(prefix)static let errors = ModuleErrors(",
            [
                .text("\(plan.name)Error.self"),
                .list("statuses: [", plan.errors.map { "\($0.status): .\($0.name)" }, "]"),
            ],
            ")"
        )
        code.line("/// The common properties of all responses.")
        code.line(
            "\(prefix)static let module = APIModule(errors: errors\(errorBody.map { ", errorBody: \($0)" } ?? ""))"
        )
    }

    private var errorBody: String? {
        plan.errorBody.map { body in
            "ErrorBody(message: \(SwiftName.literal(body.message))\(body.fields.map { ", fields: \(SwiftName.literal($0))" } ?? ", fields: nil"))"
        }
    }

    private func writeErrors(_ code: inout CodeLines) {
        guard !plan.errors.isEmpty else { return }
        code.line()
        code.line("/// The documented errors, whose codes are 1000 plus the HTTP status.")
        if let type = plan.errorType, names.graph.declaration(of: type) != nil {
            code.line("///")
            code.line("/// `error.decodedBody(as: \(names.name(type)).self)` decodes the body of most of these errors.")
        }
        code.block("\(prefix)enum \(plan.name)Error: Int, ModuleErrorCode") { code in
            for error in plan.errors {
                code.documentation(
                    error.description,
                    fallback: isPublic ? "The status \(error.status)." : nil,
                    maximumLines: 1
                )
                code.line("case \(error.name) = \(1_000 + error.status)")
            }
        }
    }

    // MARK: - Credentials

    private func writeCredentials(_ code: inout CodeLines) {
        var seen: Set<String> = []
        let functions = plan.schemes.compactMap { scheme -> (String, String, String?)? in
            let function: (String, String)
            switch scheme.kind {
            case .bearer: function = ("token: String", ".bearer(token)")
            case .basic: function = ("user: String, password: String", ".basic(user: user, password: password)")
            case .header(let name):
                let label = SwiftName.member(of: scheme.name)
                function = ("\(label): String", ".header(\(SwiftName.literal(name)), \(SwiftName.escaped(label)))")
            }
            guard seen.insert(function.0).inserted else { return nil }
            return (function.0, function.1, scheme.description)
        }
        guard !functions.isEmpty else { return }
        code.line()
        code.block("extension \(plan.name)") { code in
            for (index, function) in functions.enumerated() {
                if index > 0 { code.line() }
                code.documentation(function.2, fallback: "Credentials for `options.credentials` of the client.")
                code.block("\(prefix)static func credentials(\(function.0)) -> Credentials") { code in
                    code.line("Credentials(\(function.1))")
                }
            }
        }
    }

    // MARK: - Services

    private func writeService(_ code: inout CodeLines) {
        for service in plan.services {
            guard let template = service.template else { continue }
            code.line()
            code.block("extension \(plan.name)") { code in
                code.line("/// Makes the service `\(service.name)` with the variables of its base URL.")
                let parameters = service.variables.map {
                    CodeLines.Element.text(
                        "\(SwiftName.label(SwiftName.member(of: $0.name))): String = \(SwiftName.literal($0.value))"
                    )
                }
                let function = SwiftName.member(SwiftName.words(of: service.name) + ["service"])
                code.list("\(prefix)static func \(function)(", parameters, ") throws(CatalogError) -> Service {")
                var url = SwiftName.literal(template)
                for variable in service.variables {
                    let name = SwiftName.escaped(SwiftName.member(of: variable.name))
                    url = url.replacing("{\(variable.name)}", with: "\\(\(name))")
                }
                code.indented { code in
                    code.line("try Service(name: \(SwiftName.literal(service.name)), baseURL: \(url))")
                }
                code.line("}")
            }
        }
    }
}
