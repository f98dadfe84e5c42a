import SwitchyardHTTP
import Testing

@testable import SwitchyardClient

@Suite struct EndpointNameTests {
    @Test(arguments: [
        ("users/7/posts", "users/8/posts"), ("users/7", "users/3f2a-9c?x=1"), ("topics", "/topics/"),
        ("topics?page=2", "topics?page=3"), ("topics", "topics#top"), ("a/b/c/d/e", "a/b/c/d/f"),
    ])
    func `paths that differ only in an identifier are one endpoint`(one: String, other: String) {
        #expect(EndpointName.number(of: one, method: .get) == EndpointName.number(of: other, method: .get))
    }

    @Test(arguments: [
        ("users", "topics"), ("users/7", "users"), ("users/7/posts", "users/7/likes"), ("users/me", "users/7"),
        ("users/{id}", "topics/{id}"), ("", "users"), ("a/b", "b/a"),
    ])
    func `paths of a different structure are different endpoints`(one: String, other: String) {
        #expect(EndpointName.number(of: one, method: .get) != EndpointName.number(of: other, method: .get))
    }

    @Test func `paths with different methods are different endpoints`() {
        #expect(EndpointName.number(of: "users", method: .get) != EndpointName.number(of: "users", method: .post))
    }
}
