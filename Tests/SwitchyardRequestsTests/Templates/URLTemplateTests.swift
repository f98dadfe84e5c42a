import SwitchyardHTTP
import SwitchyardRequests
import Testing

/// The templates that apps expand themselves.
@Suite struct URLTemplateTests {
    @Test func `a template has its text and the names of its variables in order of their first use`() throws {
        let template = try SwitchyardRequests.URLTemplate("users/{id}/posts{?page,size,id}")

        #expect(template.text == "users/{id}/posts{?page,size,id}")
        #expect("\(template)" == template.text)
        #expect(template.variables == ["id", "page", "size"])
    }

    @Test func `a value stays one path segment, and a missing value in the query is omitted`() throws {
        let template = try SwitchyardRequests.URLTemplate("users/{id}{?page,size}")

        #expect(try template.expanded(with: ["id": "a/b?c", "size": 20]) == "users/a%2Fb%3Fc?size=20")
    }

    @Test func `a missing value in the path is an error unless it is omitted on request`() throws {
        let template = try SwitchyardRequests.URLTemplate("users/{id}")

        #expect(throws: RequestError.self) { try template.expanded(with: [:]) }
        #expect(try template.expanded(with: [:], missing: .leftOut) == "users/")
    }

    @Test func `a syntax error throws when the template is created`() {
        #expect(throws: RequestError.self) { try SwitchyardRequests.URLTemplate("users/{id") }
    }
}
