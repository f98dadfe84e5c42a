/// Generates the methods that read a list page by page.
struct ListWriter {
    let method: Method
    let list: ListPlan
    let names: TypeNames
    let prefix: String

    func write(to code: inout CodeLines) {
        var call = MethodCode(method: method, names: names)
        for parameter in method.parameters {
            if parameter.name == list.sizeParameter { call.replaced[parameter.name] = number("page.size", parameter) }
            if parameter.name == list.pageParameter { call.replaced[parameter.name] = position(parameter) ?? "" }
        }
        let head = method.operation
        code.line("/// Reads the list of `\(method.name)` page by page.")
        if head.isDeprecated { code.line("@available(*, deprecated)") }
        let size = "pageSize: Int = \(pageSize)"
        let name = "\(method.name)Pages"
        let tail = ") -> PagedList<\(names.name(list.item))> {"
        code.list("\(prefix)func \(name)(", (call.parameters + [size]).map { .text($0) }, tail)
        code.indented { code in
            code.line("PagedList(pageSize: pageSize, strategy: \(strategy)) { [self] page in")
            code.indented { code in
                call.writeCall(to: &code, isReturned: false)
                writePage(call.callName, &code)
            }
            code.line("}")
        }
        code.line("}")
    }

    /// The page size: the default in the document if it is between 2 and 1,000, otherwise 30.
    private var pageSize: Int {
        guard let name = list.sizeParameter,
            let place = method.operation.place["parameters"]?.elements.first(where: { $0.text("name") == name }),
            let text = place["schema"]?.text("default"), let size = Int(text), (2...1_000).contains(size)
        else { return 30 }
        return size
    }

    private var strategy: String {
        switch list.strategy {
        case .link, .nextLink: ".link"
        case .cursor: ".cursor"
        case .lastID: ".lastID(\\.\(itemIDName))"
        case .offset: ".offset"
        case .page: ".pageNumber"
        }
    }

    private var itemIDName: String {
        list.itemID.map { SwiftName.afterDot(names.name(of: $0, in: list.item)) } ?? "id"
    }

    private func number(_ expression: String, _ parameter: Method.Parameter) -> String {
        parameter.type == .string ? "String(\(expression))" : expression
    }

    /// Returns the expression that is sent as this parameter to select the page, or `nil` if the parameter is not sent.
    private func position(_ parameter: Method.Parameter) -> String? {
        switch list.strategy {
        // No parameter selects the first page. The other pages are found by links.
        case .link, .nextLink: nil
        case .cursor: "page.cursor"
        case .lastID: "page.lastID"
        case .offset: number("page.offset", parameter)
        case .page: number("page.number", parameter)
        }
    }

    private func writePage(_ call: String, _ code: inout CodeLines) {
        guard case .value(let type, _) = method.result else { return }
        let typeName = names.name(type)
        switch list.strategy {
        case .link, .nextLink:
            let items = path(list.items, from: "$0", type, fallback: "[]")
            let next = list.next.isEmpty ? "" : ", nextLink: \(path(list.next, from: "$0", type, fallback: nil))"
            let arguments = ["\(typeName).self", "\(call).following(page.link)"]
            let tail = ") { Page(\(items)\(next)) }"
            code.list("return try await linkedPage(", arguments.map { .text($0) }, tail)
        case .cursor, .lastID, .offset, .page:
            let prefix = MethodCode(method: method, names: names).selfPrefix("value")
            code.assignment("let list: \(typeName)", "try await \(prefix)value(for: \(call))")
            var arguments = [path(list.items, from: "list", type, fallback: "[]")]
            if !list.total.isEmpty { arguments.append("total: \(total(type))") }
            if !list.more.isEmpty { arguments.append("hasMore: \(path(list.more, from: "list", type, fallback: nil))") }
            if !list.next.isEmpty {
                arguments.append("nextCursor: \(path(list.next, from: "list", type, fallback: nil))")
            }
            code.line("return Page(\(arguments.joined(separator: ", ")))")
        }
    }

    private func total(_ type: SwiftType) -> String {
        let path = path(list.total, from: "list", type, fallback: nil)
        guard list.total.last?.type == .int64 else { return path }
        return list.total.contains(where: \.isOptional) ? "\(path).map(Int.init(clamping:))" : "Int(clamping: \(path))"
    }

    /// Returns the expression that reads a property of the response, through nested objects if necessary.
    private func path(_ steps: [ListPlan.PathStep], from root: String, _ type: SwiftType, fallback: String?) -> String {
        var result = root
        var type = type
        for (index, step) in steps.enumerated() {
            result += ".\(SwiftName.afterDot(names.name(of: step, in: type)))"
            if step.isOptional, index < steps.count - 1 { result += "?" }
            type = step.type
        }
        guard let fallback, steps.contains(where: \.isOptional) else { return result }
        return "\(result) ?? \(fallback)"
    }
}
