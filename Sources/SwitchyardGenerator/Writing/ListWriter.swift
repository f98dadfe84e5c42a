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
        // A validator such as an `ETag` belongs to one page, so the method for the whole list sends no condition.
        for name in method.readConditions { call.replaced[name] = "" }
        let head = method.operation
        code.line("/// Reads the list of `\(method.name)` page by page.")
        if head.isDeprecated { code.line("@available(*, deprecated)") }
        let size = "pageSize: Int = \(pageSize)"
        let name = method.name(of: .pages)
        let tail = ") -> PagedList<\(names.name(list.item))> {"
        code.list("\(prefix)func \(name)(", (call.parameters + [size]).map { .text($0) }, tail)
        code.indented { code in
            code.line("PagedList(pageSize: pageSize, strategy: \(strategy)) { [self] page in")
            code.indented { code in
                if isLinked {
                    call.writeCall(to: &code, isReturned: false)
                    writeLinkedPage(call.callName, &code)
                } else {
                    writePage(call, &code)
                }
            }
            code.line("}")
        }
        code.line("}")
    }

    /// Whether a link in the response leads to the next page.
    private var isLinked: Bool { list.strategy == .link || list.strategy == .nextLink }

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
        switch parameter.type {
        case .string: "String(\(expression))"
        case .int64: "Int64(\(expression))"
        default: expression
        }
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

    private func writeLinkedPage(_ call: String, _ code: inout CodeLines) {
        guard case .value(let type, _) = method.result else { return }
        let items = path(list.items, from: "$0", type, fallback: "[]")
        let next = list.next.isEmpty ? "" : ", nextLink: \(path(list.next, from: "$0", type, fallback: nil))"
        let arguments = ["\(names.name(type)).self", "\(call).following(page.link)"]
        code.list("return try await linkedPage(", arguments.map { .text($0) }, ") { Page(\(items)\(next)) }")
    }

    /// Adds a call of the method that loads one page.
    private func writePage(_ call: MethodCode, _ code: inout CodeLines) {
        guard case .value(let type, _) = method.result else { return }
        let name = call.resultName
        code.list(
            "let \(name) = try await self.\(SwiftName.afterDot(method.name))(",
            call.arguments.map { .text($0) },
            ")"
        )
        var arguments = [path(list.items, from: name, type, fallback: "[]")]
        if !list.total.isEmpty { arguments.append("total: \(total(type, name))") }
        if !list.more.isEmpty { arguments.append("hasMore: \(path(list.more, from: name, type, fallback: nil))") }
        if !list.next.isEmpty { arguments.append("nextCursor: \(path(list.next, from: name, type, fallback: nil))") }
        code.line("return Page(\(arguments.joined(separator: ", ")))")
    }

    private func total(_ type: SwiftType, _ name: String) -> String {
        let (path, isOptional) = member(list.total, from: name, type)
        guard list.total.last?.type == .int64 else { return path }
        return isOptional ? "\(path).map(Int.init(clamping:))" : "Int(clamping: \(path))"
    }

    /// Returns the expression that reads a property of the response, through nested objects if necessary.
    private func path(_ steps: [ListPlan.PathStep], from root: String, _ type: SwiftType, fallback: String?) -> String {
        let (text, isOptional) = member(steps, from: root, type)
        guard let fallback, isOptional else { return text }
        return "\(text) ?? \(fallback)"
    }

    /// Returns the expression that reads a property, and whether its value is optional.
    private func member(_ steps: [ListPlan.PathStep], from root: String, _ type: SwiftType) -> (String, Bool) {
        var (result, isOptional, type) = (root, false, type)
        for (index, step) in steps.enumerated() {
            let isStepOptional = names.isOptional(step, in: type)
            result += ".\(SwiftName.afterDot(names.name(of: step, in: type)))"
            if isStepOptional, index < steps.count - 1 { result += "?" }
            isOptional = isOptional || isStepOptional
            type = step.type
        }
        return (result, isOptional)
    }
}
