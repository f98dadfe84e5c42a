import Testing

@testable import SwitchyardGenerator

/// The lists that are detected in a document.
@Suite struct ListTests {
    private func code(_ parameters: [String], _ response: String) throws -> String {
        let list = parameters.map { "{ name: \($0), in: query, schema: { type: integer } }" }.joined(separator: ", ")
        return try client(
            paths: """
                  /things:
                    get:
                      operationId: things_list
                      tags: [things]
                      parameters: [\(list)]
                      responses: { "200": { content: { application/json: { schema: \(response) } } } }
                """
        ).code
    }

    @Test func `a generated list follows the links if responses contain the URL of the next page`() throws {
        let code = try code(
            ["page"],
            "{ type: object, properties: { results: { type: array, items: { type: string } }, next: { type: string } } }"
        )

        #expect(code.contains("PagedList(pageSize: pageSize, strategy: .link) { [self] page in"))
        #expect(code.contains("{ Page($0.results ?? [], nextLink: $0.next) }"))
    }

    @Test func `a generated list reads its total from the object that describes the page`() throws {
        let meta = "{ type: object, properties: { total: { type: integer, format: int64 } } }"
        let code = try code(
            ["page", "per_page"],
            "{ type: object, properties: { results: { type: array, items: { type: string } }, meta: \(meta) } }"
        )

        #expect(code.contains("Page(list.results ?? [], total: list.meta?.total.map(Int.init(clamping:)))"))
    }
}
