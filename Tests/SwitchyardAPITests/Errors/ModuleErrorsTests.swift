import Testing

@testable import SwitchyardAPI

@Suite struct ModuleErrorsTests {
    @Test func `H8: a code of the server becomes the module's own, typed`() throws {
        let errors = try ModuleErrors(UserError.self, [301: .userNotFound, "TAKEN": .nameTaken])

        let error = errors.error(for: 301, serverMessage: "gone")

        #expect(error.code == .module(1001))
        #expect(error.module(UserError.self) == .userNotFound)
        #expect(error.module(OverlappingError.self) == nil)
        #expect(error.message == "gone")
        #expect(errors.error(for: "TAKEN").module(UserError.self) == .nameTaken)
    }

    @Test func `TAF-E6: a code of the server that nobody knows is a failure that keeps the code`() throws {
        let errors = try ModuleErrors(UserError.self, [301: .userNotFound])

        let error = errors.error(for: 777)

        #expect(error.code == .failed)
        #expect(error.reason == .module(ModuleFailure(module: "UserError", code: nil, serverCode: 777)))
    }

    @Test func `TAF-E8: a number below 1001 is refused when the module is made`() {
        #expect(throws: ModuleCodeClash.reserved(module: "LowError", code: 0)) { try ModuleErrors(LowError.self) }
    }

    @Test func `TAF-E8, H24: two modules with one number clash when the second is registered`() throws {
        let registry = ModuleRegistry()
        try registry.register(ModuleErrors(UserError.self))
        try registry.register(ModuleErrors(TopicError.self))

        #expect(throws: ModuleCodeClash.taken(code: 1001, by: "UserError", wantedBy: "OverlappingError")) {
            try registry.register(ModuleErrors(OverlappingError.self))
        }
        #expect(throws: ModuleCodeClash.sameName(module: "UserError")) {
            try registry.register(ModuleErrors(UserError.self))
        }
        #expect(registry.modules == ["TopicError", "UserError"])
    }

    @Test func `a code of the server that stands in the table twice is refused`() {
        #expect(throws: ModuleCodeClash.repeatedServerCode(module: "UserError", serverCode: 301)) {
            try ModuleErrors(UserError.self, [301: .userNotFound, 301: .nameTaken])
        }
    }

    @Test func `a status that stands in the table twice is refused`() throws {
        #expect(throws: ModuleCodeClash.repeatedStatus(module: "UserError", status: 404)) {
            try ModuleErrors(UserError.self, statuses: [404: .userNotFound, 404: .nameTaken])
        }
        let errors = try ModuleErrors(UserError.self, statuses: [404: .userNotFound, 410: .userNotFound])
        #expect(errors.failure(forStatus: 410) == ModuleFailure(module: "UserError", code: 1001))
        #expect(errors.failure(forStatus: 500) == nil)
    }

    @Test func `TAF-E9: the caller switches over the code and cannot fall through`() {
        let text =
            switch UserError.userNotFound.error().code {
            case .module(1001): "not found"
            case .notConnected: "offline"
            default: "other"
            }

        #expect(text == "not found")
    }
}
