/// Finds the operations that return a list page by page.
///
/// The first rule that applies is used, in this order: a documented `Link` header field; a link to the next page in the
/// body; a cursor in the body and a parameter for it; a parameter for the last item and a property that says whether
/// there are more items; a parameter for the offset; a parameter for the page number. The options can select another
/// rule for an operation, or `none`.
struct ListPlanner {
    let graph: TypeGraph
    let options: GeneratorOptions

    private static let sizes = [
        "per_page", "pagesize", "page_size", "limit", "perpage", "max_results", "maxresults", "size", "first", "count",
        "top",
    ]
    private static let pages = ["page", "page_number", "pagenumber", "pageindex"]
    private static let offsets = ["offset", "skip", "start"]
    private static let cursors = [
        "cursor", "page_token", "pagetoken", "next_token", "nexttoken", "marker", "after", "continue",
        "continuation_token",
        "next_marker", "position", "next_cursor", "starting_after",
    ]
    private static let nextCursors = [
        "next_cursor", "nextcursor", "next_marker", "nextmarker", "next_page_token", "nextpagetoken", "next_token",
        "nexttoken",
        "continuation_token", "end_cursor", "endcursor", "next_position", "continue", "next_page",
    ]
    private static let nextLinks = [
        "next", "next_page_uri", "next_page_url", "next_url", "nexturl", "next_link", "nextlink",
    ]
    private static let holders = [
        "meta", "metadata", "links", "paging", "pagination", "page_info", "pageinfo", "response_metadata",
    ]
    private static let totals = ["total", "total_count", "totalcount", "total_results", "count"]
    private static let mores = ["has_more", "hasmore", "has_next", "hasnext", "has_next_page", "hasnextpage"]
    private static let contents = ["data", "items", "results", "entries", "values", "records", "list", "content"]

    /// The location of the list in a response.
    private struct Response {
        var item: SwiftType
        var items: [ListPlan.PathStep]
        /// The object that contains the list, and the path to it.
        var root: Declaration?
        var rootPath: [ListPlan.PathStep] = []
    }

    /// Returns the plan for reading the list of a method, or `nil` if the method does not return a paged list.
    func plan(for method: Method, headers: Set<String>) -> ListPlan? {
        let choice = method.operation.id.flatMap { options.lists[$0] }
        guard method.operation.method == "get", choice != "none", let response = response(of: method) else {
            return nil
        }
        let query = method.parameters.filter { $0.location == .query }
        let size = parameter(Self.sizes, in: query)
        let rules: [(ListPlan.Strategy, () -> ListPlan?)] = [
            (.link, { linkPlan(response, query, size, headers) }),
            (.nextLink, { nextLinkPlan(response, query, size) }),
            (.cursor, { cursorPlan(response, query, size) }),
            (.lastID, { lastIDPlan(response, query, size) }),
            (.offset, { countedPlan(.offset, Self.offsets, response, query, size) }),
            (.page, { countedPlan(.page, Self.pages, response, query, size) }),
        ]
        for (strategy, rule) in rules where choice == nil || choice == strategy.rawValue {
            if let plan = rule() { return plan }
        }
        return nil
    }

    // MARK: - Rules

    private func linkPlan(
        _ response: Response,
        _ query: [Method.Parameter],
        _ size: Method.Parameter?,
        _ headers: Set<String>
    ) -> ListPlan? {
        guard headers.contains("link") else { return nil }
        let page = parameter(Self.pages + Self.cursors, in: query)
        guard page != nil || size != nil else { return nil }
        return plan(.link, page, size, response)
    }

    private func nextLinkPlan(_ response: Response, _ query: [Method.Parameter], _ size: Method.Parameter?) -> ListPlan?
    {
        guard let next = path(Self.nextLinks, in: response), next.last?.type == .string else { return nil }
        return plan(.nextLink, parameter(Self.pages, in: query), size, response, next: next)
    }

    private func cursorPlan(_ response: Response, _ query: [Method.Parameter], _ size: Method.Parameter?) -> ListPlan? {
        guard let page = parameter(Self.cursors, in: query), page.type == .string, !page.isDemanded,
            let next = path(Self.nextCursors, in: response), next.last?.type == .string
        else { return nil }
        return plan(.cursor, page, size, response, next: next)
    }

    private func lastIDPlan(_ response: Response, _ query: [Method.Parameter], _ size: Method.Parameter?) -> ListPlan? {
        guard let page = parameter(["starting_after", "after", "since_id"], in: query), page.type == .string,
            !page.isDemanded, let more = path(Self.mores, in: response),
            case .structure(let properties, _)? = graph.declaration(of: response.item)?.kind,
            let id = properties.first(where: { $0.name == "id" && $0.type == .string && !$0.isOptional })
        else { return nil }
        let step = ListPlan.PathStep(name: id.name, isOptional: false, type: id.type)
        return plan(.lastID, page, size, response, more: more, itemID: step)
    }

    private func countedPlan(
        _ strategy: ListPlan.Strategy,
        _ names: [String],
        _ response: Response,
        _ query: [Method.Parameter],
        _ size: Method.Parameter?
    ) -> ListPlan? {
        guard let page = parameter(names, in: query), Self.isNumber(page.type), let size else { return nil }
        return plan(strategy, page, size, response)
    }

    private func plan(
        _ strategy: ListPlan.Strategy,
        _ page: Method.Parameter?,
        _ size: Method.Parameter?,
        _ response: Response,
        next: [ListPlan.PathStep] = [],
        more: [ListPlan.PathStep]? = nil,
        itemID: ListPlan.PathStep? = nil
    ) -> ListPlan {
        let total = path(Self.totals, in: response).flatMap {
            $0.last.map { Self.isNumber($0.type) } == true ? $0 : nil
        }
        return ListPlan(
            strategy: strategy,
            pageParameter: page?.name,
            sizeParameter: size?.name,
            item: response.item,
            items: response.items,
            next: next,
            total: strategy == .offset || strategy == .page ? total ?? [] : [],
            more: more ?? [],
            itemID: itemID
        )
    }

    // MARK: - Lookup

    private static func isNumber(_ type: SwiftType) -> Bool { type == .int || type == .int64 }

    private func parameter(_ names: [String], in query: [Method.Parameter]) -> Method.Parameter? {
        for name in names {
            if let parameter = query.first(where: { $0.name.lowercased() == name }),
                Self.isNumber(parameter.type) || parameter.type == .string
            {
                return parameter
            }
        }
        return nil
    }

    private func response(of method: Method) -> Response? {
        guard case .value(let type, isOptional: false) = method.result else { return nil }
        if case .list(let item) = type { return Response(item: item, items: [], root: nil) }
        guard let root = graph.declaration(of: type) else { return nil }
        if let response = listed(in: root, at: []) { return response }
        // The response can be an envelope: an outer object around the object that contains the list.
        guard let step = step(["data", "result", "response"], in: root), !step.isOptional,
            let inner = graph.declaration(of: step.type)
        else { return nil }
        return listed(in: inner, at: [step])
    }

    /// Returns the list in an object, or `nil` if the object has no list, or several lists without a usual name.
    private func listed(in root: Declaration, at path: [ListPlan.PathStep]) -> Response? {
        guard case .structure(let properties, _) = root.kind else { return nil }
        let lists = properties.filter { if case .list = $0.type { true } else { false } }
        let named = Self.contents.lazy.compactMap { name in lists.first { $0.name.lowercased() == name } }.first
        guard let property = named ?? (lists.count == 1 ? lists[0] : nil), case .list(let item) = property.type else {
            return nil
        }
        let step = ListPlan.PathStep(name: property.name, isOptional: property.isOptional, type: property.type)
        return Response(item: item, items: path + [step], root: root, rootPath: path)
    }

    /// Returns the path to the first property that has one of these names.
    ///
    /// The property may be in the response itself or in the object of the response that describes the paging.
    private func path(_ names: [String], in response: Response) -> [ListPlan.PathStep]? {
        guard let root = response.root else { return nil }
        if let step = step(names, in: root) { return response.rootPath + [step] }
        guard let holder = step(Self.holders, in: root), let declaration = graph.declaration(of: holder.type),
            let step = step(names, in: declaration)
        else { return nil }
        return response.rootPath + [holder, step]
    }

    private func step(_ names: [String], in declaration: Declaration) -> ListPlan.PathStep? {
        guard case .structure(let properties, _) = declaration.kind else { return nil }
        for name in names {
            if let property = properties.first(where: { $0.name.lowercased() == name }) {
                return ListPlan.PathStep(name: property.name, isOptional: property.isOptional, type: property.type)
            }
        }
        return nil
    }
}
