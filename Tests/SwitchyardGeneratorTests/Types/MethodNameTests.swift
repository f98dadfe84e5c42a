import Testing

@testable import SwitchyardGenerator

@Suite struct MethodNameTests {
    @Test(arguments: [
        ("read_thing_things__thing_id__get", "/things/{thing_id}", "get", "read"),
        ("things/list-all", "/things", "get", "listAll"),
        ("find_things_by_state", "/things", "get", "findByState"), ("listAllThings", "/things", "get", "listAll"),
        ("addTagToThing", "/things", "post", "addTagTo"), ("removeThingsUser", "/things", "put", "removeThingsUser"),
        ("listProjectThings", "/things", "get", "listProjectThings"),
        ("getThing", "/things", "get", "get"), ("ThingsController_find", "/things", "get", "controllerFind"),
        ("listThings", "/things", "get", "list"),
    ])
    func `a generated method is named after its operation, without the words of the operation's tag`(
        id: String,
        path: String,
        method: String,
        expected: String
    ) throws {
        let code = try client(
            paths: "  \(path): { \(method): { operationId: '\(id)', tags: [things], responses: {} } }"
        ).code

        #expect(code.contains("func \(expected)("))
    }

    @Test func `if two identifiers have the same short method name, only the shorter identifier gets that name`() throws
    {
        let code = try client(
            paths: """
                  /b: { get: { operationId: listThings, tags: [things], responses: {} } }
                  /a: { get: { operationId: listThing, tags: [things], responses: {} } }
                """
        ).code

        #expect(code.contains("    /// Sends `GET /a`.\n    func list("))
        #expect(code.contains("    /// Sends `GET /b`.\n    func listThings("))
    }

    @Test(arguments: [
        ("core_v1", "listCoreV1NamespacedPod", "listNamespacedPod"),
        ("chat", "createChatCompletion", "createCompletion"),
        ("Add-Ons", "addons_list", "list"), ("VPCs", "vpcs_get", "get"),
    ])
    func `a method name leaves out the words of its tag`(
        tag: String,
        id: String,
        expected: String
    ) throws {
        let code = try client(paths: "  /things: { get: { operationId: \(id), tags: [\(tag)], responses: {} } }").code

        #expect(code.contains("func \(expected)("))
    }

    /// The code for operations with these paths and methods, which have no identifiers or derived ones.
    private func code(_ operations: [(path: String, method: String)], areDerived: Bool) throws -> String {
        let response = "responses: { '200': { content: { application/json: { schema: { type: string } } } } }"
        let lines = operations.map { path, method in
            let words = SwiftName.words(of: "\(method) \(path)")
            let id = areDerived ? "operationId: \(SwiftName.type(words)), " : ""
            return "  \(path): { \(method): { \(id)tags: [things], \(response) } }"
        }
        return try client(paths: lines.joined(separator: "\n")).code
    }

    @Test(
        arguments: [
            ("/v1/things", "get", "list"), ("/v1/things", "post", "create"), ("/v1/things/{thing}", "get", "get"),
            ("/v1/things/{thing}", "post", "update"), ("/v1/things/{thing}", "put", "update"),
            ("/v1/things/{thing}", "delete", "delete"), ("/v1/things/{thing}/close", "post", "close"),
            ("/v1/things/{thing}/cancel", "post", "cancelThing"),
            ("/v1/things/{thing}/people", "post", "createPerson"), ("/v1/things/{thing}/state", "get", "getState"),
            ("/v1/things/{thing}/boxes/{box}", "patch", "updateBox"),
            ("/v1/things/{thing}/boxes/{box}/verify_code", "post", "verifyCodeForBox"),
            ("/v1/things/search", "get", "search"), ("/v1/stores/{store}/things", "get", "listStoreThings"),
        ],
        [false, true]
    )
    func `an operation with no identifier, or one derived from the path, is named by its method and path`(
        operation: (path: String, method: String, expected: String),
        areDerived: Bool
    ) throws {
        let code = try code([(operation.path, operation.method)], areDerived: areDerived)

        #expect(code.contains("func \(operation.expected)("))
    }

    @Test
    func `the name of a generated method for getThings keeps the verb if other identifiers are not derived from paths`()
        throws
    {
        let code = try client(
            paths: """
                  /things: { get: { operationId: getThings, tags: [things], responses: {} } }
                  /parts: { get: { operationId: readParts, tags: [things], responses: {} } }
                  /boxes: { get: { operationId: readBoxes, tags: [things], responses: {} } }
                """
        ).code

        #expect(code.contains("func get("))
    }

    @Test func `the generated method of a PATCH request is named patch if a PUT request has the same path`() throws {
        let code = try client(
            paths: """
                  /things/{id}:
                    put: { tags: [things], responses: {} }
                    patch: { tags: [things], responses: {} }
                """
        ).code

        #expect(code.contains("    /// Sends `PUT /things/{id}`.\n    func update("))
        #expect(code.contains("    /// Sends `PATCH /things/{id}`.\n    func patch("))
    }

    @Test(arguments: [
        ("VPCs", "VPCs"), ("userIDs", "UserIDs"), ("APIkey", "APIKey"), ("oauth2_token", "OAuth2Token"),
        ("sha256", "SHA256"), ("HTTPSProxy", "HTTPSProxy"), ("IDsOfUsers", "IDsOfUsers"),
    ])
    func `an acronym in a generated name is written in upper case`(text: String, expected: String) {
        #expect(SwiftName.type(of: text) == expected)
    }
}
