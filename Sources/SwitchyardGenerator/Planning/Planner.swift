/// Creates the ``ClientPlan`` for a document.
struct Planner {
    let document: OpenAPIDocument
    let options: GeneratorOptions
    let reader: TypeReader
    private var services: ServicePlanner
    private var plan: ClientPlan

    init(_ document: OpenAPIDocument, options: GeneratorOptions) {
        self.document = document
        var options = options
        let name = options.name ?? SwiftName.type(of: document.title)
        options.name = name
        self.options = options
        reader = TypeReader(document)
        services = ServicePlanner(options: options)
        plan = ClientPlan(
            name: name,
            title: document.title.isEmpty ? name : document.title,
            version: document.version,
            openAPIVersion: document.openAPIVersion
        )
    }

    /// A plan, with the generated types and the notes about the document.
    struct Outcome {
        let plan: ClientPlan
        let graph: TypeGraph
        let notes: [GeneratorNote]
        let operations: Int
    }

    /// Reads the operations and returns the plan.
    ///
    /// - Throws: ``GeneratorError`` for the first error in the document.
    mutating func outcome() throws(GeneratorError) -> Outcome {
        let operations = try chosenOperations()
        try planSchemes()
        try planManagers(operations)
        plan.errors = ErrorPlanner.errors(of: operations)
        if let schema = try ErrorPlanner.commonSchema(of: operations, in: document) {
            plan.errorType = try reader.type(of: schema, .init(component: nil, hint: "\(plan.name) refusal")).type
        }
        plan.services = services.services
        reader.completeUnions()
        let graph = TypeGraph(reader.declarations, replacements: reader.replacements)
        finish(graph, operations)
        let notes = services.notes + reader.notes + securityNotes
        return Outcome(plan: plan, graph: graph, notes: notes, operations: operations.count)
    }

    private func chosenOperations() throws(GeneratorError) -> [Operation] {
        let only = options.only
        let operations = try OperationReader(document: document).operations { path, _, id, tag in
            only.isEmpty || only.contains { $0 == path || $0 == id || $0 == tag }
        }
        for name in only where !operations.contains(where: { $0.path == name || $0.id == name || $0.tag == name }) {
            throw GeneratorError("unknown tag, operationId or path \"\(name)\"", file: document.root.file)
        }
        guard !operations.isEmpty else {
            throw (document.root["paths"] ?? document.root).error("the document must have at least one operation")
        }
        return operations
    }

    // MARK: - Managers

    private mutating func planManagers(_ operations: [Operation]) throws(GeneratorError) {
        let rootServers = try document.root.list("servers")
        let main = mainServers(operations, rootServers)
        let mainKey = ServicePlanner.key(of: main)
        _ = try services.service(for: main, isMain: true, root: document.root)
        var groups: [String: Int] = [:]
        var members: [[(operation: Operation, method: Method, names: [[String]])]] = []
        let methods = MethodPlanner(reader: reader, options: options)
        let namer = OperationNamer(operations)
        let texts = document.tagDescriptions
        var types = NameTable(reserved: TypeNamer.reserved.union([plan.name, "\(plan.name)Error"]))
        var properties = NameTable(reserved: ["client", "module", "service"])
        for operation in operations {
            let tag = OperationNamer.tag(of: operation)
            let servers = operation.servers.isEmpty ? rootServers : operation.servers
            let isMain = ServicePlanner.key(of: servers) == mainKey
            let service = isMain ? 0 : try services.service(for: servers, isMain: false, root: document.root)
            let key = "\(SwiftName.type(of: tag)) \(service)"
            if groups[key] == nil {
                groups[key] = plan.managers.count
                let words = managerWords(tag, service)
                plan.managers.append(
                    ClientPlan.Manager(
                        typeName: types.unique(
                            SwiftName.type(words.last == "api" && words.count > 1 ? words.dropLast() : words) + "API"
                        ),
                        propertyName: properties.unique(SwiftName.member(of: words.joined(separator: " "))),
                        description: texts[tag],
                        service: service
                    )
                )
                members.append([])
            }
            let names = namer.names(of: operation, tag: tag)
            let method = try methods.method(of: operation, words: names.types)
            members[groups[key] ?? 0].append((operation, method, names.choices))
        }
        for index in members.indices { plan.managers[index].methods = named(members[index]) }
    }

    /// Returns the words of a manager's name: the words of the tag.
    ///
    /// If the service is not the main service, the words that its name has in addition to the main service's name are
    /// added.
    private func managerWords(_ tag: String, _ service: Int) -> [String] {
        let words = SwiftName.words(of: tag)
        guard service > 0 else { return words }
        let names = services.services.map(\.name)
        let own = SwiftName.words(of: String(names[service].dropFirst(names[0].count)))
        return words + own.filter { !words.contains($0) }
    }

    /// Returns the document's servers if an operation uses them, otherwise the servers that the most operations use.
    private func mainServers(_ operations: [Operation], _ root: [Place]) -> [Place] {
        var counts: [String: Int] = [:]
        var servers: [String: [Place]] = [:]
        var order: [String] = []
        for operation in operations {
            let own = operation.servers.isEmpty ? root : operation.servers
            let key = ServicePlanner.key(of: own)
            if counts[key] == nil { order.append(key) }
            counts[key, default: 0] += 1
            servers[key] = own
        }
        let rootKey = ServicePlanner.key(of: root)
        if counts[rootKey] != nil { return root }
        return order.max { counts[$0, default: 0] < counts[$1, default: 0] }.flatMap { servers[$0] } ?? root
    }

    /// Returns the methods of a manager with their final names.
    ///
    /// If several operations have the same short name, the operation with the shortest identifier gets it. The others
    /// get their next names, the last of which is the full name.
    private func named(
        _ members: [(operation: Operation, method: Method, names: [[String]])]
    ) -> [Method] {
        var table = NameTable(reserved: [
            "value", "send", "response", "cancel", "cache", "isLoading", "cancelAll", "resource", "cacheUser",
            "activeRequests", "removeResponses", "removeResponse", "storeResponse",
        ])
        var names: [Int: String] = [:]
        let order = members.indices.sorted { left, right in
            let first = members[left].operation
            let second = members[right].operation
            let key = { (operation: Operation) in operation.id ?? "\(operation.method) \(operation.path)" }
            return (key(first).count, key(first)) < (key(second).count, key(second))
        }
        for index in order {
            let choices = members[index].names.map { SwiftName.member(of: $0.joined(separator: " ")) }
            names[index] = table.unique(of: choices)
        }
        return members.indices.map { index in
            var method = members[index].method
            method.name = names[index] ?? method.name
            for further in Method.Further.allCases {
                method.furtherNames[further] = table.unique(method.name + further.rawValue)
            }
            method.access = access(of: members[index].operation)
            return method
        }
    }

    // MARK: - Security

    private var securityNotes: [GeneratorNote] = []

    private mutating func planSchemes() throws(GeneratorError) {
        for (name, place) in document.root["components"]?["securitySchemes"]?.members ?? [] {
            let scheme = try document.resolved(place)
            let kind: ClientPlan.SecurityScheme.Kind
            switch (scheme.text("type"), scheme.text("scheme")?.lowercased()) {
            case ("http", "basic"): kind = .basic
            case ("http", _), ("oauth2", _), ("openIdConnect", _): kind = .bearer
            case ("apiKey", _) where scheme.text("in") == "header":
                kind = .header(scheme.text("name") ?? "Authorization")
            case (let type, _):
                let text =
                    "the security scheme \"\(name)\" (\(type ?? "no type") in \(scheme.text("in") ?? "no location")) is not supported"
                securityNotes.append(GeneratorNote(.skipped, text, at: scheme))
                continue
            }
            plan.schemes.append(.init(name: name, kind: kind, description: scheme.text("description")))
        }
    }

    private func access(of operation: Operation) -> Method.Access? {
        guard let security = operation.security else { return nil }
        if security.isEmpty { return Method.Access.none }
        return security.contains { $0.node.members.isEmpty } ? .optional : nil
    }

    // MARK: - Types

    private mutating func finish(_ graph: TypeGraph, _ operations: [Operation]) {
        let headers = Dictionary(
            operations.map { operation in
                let successes = operation.responses.filter { $0.status.hasPrefix("2") }
                return ("\(operation.method) \(operation.path)", Set(successes.flatMap(\.headers)))
            }
        ) { first, _ in first }
        let lists = ListPlanner(graph: graph, options: options)
        for manager in plan.managers.indices {
            let user = plan.managers[manager].typeName
            for index in plan.managers[manager].methods.indices {
                var method = plan.managers[manager].methods[index]
                method.settle(graph)
                method.use(graph, by: user)
                let key = "\(method.operation.method) \(method.operation.path)"
                let fields = headers[key] ?? []
                method.list = lists.plan(for: method, headers: fields)
                method.hasValidator = fields.contains("etag") || fields.contains("last-modified")
                plan.managers[manager].methods[index] = method
            }
        }
        if let type = plan.errorType {
            plan.errorType = graph.final(type)
            plan.errorBody = ErrorPlanner.body(of: graph.final(type), in: graph)
            graph.use(graph.final(type), isDecoded: true, by: plan.name)
        }
        graph.breakCycles()
        graph.markDiscriminators()
        let taken = Set(plan.managers.map(\.typeName) + [plan.name, "\(plan.name)Error"])
        TypeNamer.name(graph, taken: taken)
    }
}

extension Method {
    /// Replaces the index of each type that was merged into an equal type by the index of that equal type.
    mutating func settle(_ graph: TypeGraph) {
        parameters = parameters.map { parameter in
            Parameter(
                name: parameter.name,
                swiftName: parameter.swiftName,
                type: graph.final(parameter.type),
                isRequired: parameter.isRequired,
                location: parameter.location,
                style: parameter.style,
                description: parameter.description,
                constant: parameter.constant
            )
        }
        if let type = body?.type { body?.type = graph.final(type) }
        if let type = form?.type { form?.type = graph.final(type) }
        if case .value(let type, let isOptional) = result { result = .value(graph.final(type), isOptional: isOptional) }
    }

    /// Records in the graph which types the method decodes and which types it encodes.
    func use(_ graph: TypeGraph, by user: String) {
        for parameter in parameters { graph.use(parameter.type, isDecoded: false, by: user) }
        for body in [body, form].compactMap(\.self) { graph.use(body.type, isDecoded: false, by: user) }
        if case .value(let type, _) = result { graph.use(type, isDecoded: true, by: user) }
    }
}
