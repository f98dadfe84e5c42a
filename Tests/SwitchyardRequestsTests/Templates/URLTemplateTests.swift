import SwitchyardHTTP
import SwitchyardRequests
import Testing

/// The templates that apps expand themselves.
@Suite struct URLTemplateTests {
    @Test func `a URL template provides its text and its variable names in order of their first use`() throws {
        let template = try SwitchyardRequests.URLTemplate("users/{id}/posts{?page,size,id}")

        #expect(template.text == "users/{id}/posts{?page,size,id}")
        #expect("\(template)" == template.text)
        #expect(template.variables == ["id", "page", "size"])
    }

    @Test func `in a URL template, a value stays one path segment, and a missing query value is omitted`() throws {
        let template = try SwitchyardRequests.URLTemplate("users/{id}{?page,size}")

        #expect(try template.expanded(with: ["id": "a/b?c", "size": 20]) == "users/a%2Fb%3Fc?size=20")
    }

    @Test func `in a URL template, a missing path value is an error unless it is omitted on request`() throws {
        let template = try SwitchyardRequests.URLTemplate("users/{id}")

        #expect(throws: RequestError.self) { try template.expanded(with: [:]) }
        #expect(try template.expanded(with: [:], missing: .leftOut) == "users/")
    }

    @Test func `creating a URL template with a syntax error throws`() {
        #expect(throws: RequestError.self) { try SwitchyardRequests.URLTemplate("users/{id") }
    }
}
