import Testing

@testable import SwitchyardAPI

@Suite struct ModuleErrorsTests {
    @Test func `H8: a code of the server becomes the module's own, typed`() {
        let errors = ModuleErrors(UserError.self, [301: .userNotFound, "TAKEN": .nameTaken])

        let error = errors.error(for: 301, serverMessage: "gone")

        #expect(error.code == .module(1001))
        #expect(error.module(UserError.self) == .userNotFound)
        #expect(error.module(OverlappingError.self) == nil)
        #expect(error.message == "gone")
        #expect(errors.error(for: "TAKEN").module(UserError.self) == .nameTaken)
    }

    @Test func `TAF-E6: a code of the server that no one knows is a failure that keeps the code`() {
        let errors = ModuleErrors(UserError.self, [301: .userNotFound])

        let error = errors.error(for: 777)

        #expect(error.code == .failed)
        #expect(error.reason == .module(ModuleFailure(module: "UserError", code: nil, serverCode: 777)))
    }

    @Test func `TAF-E8: a table with a number below 1001 says so`() {
        #expect(ModuleErrors(LowError.self).clash == .reserved(module: "LowError", code: 0))
        #expect(ModuleErrors(UserError.self).clash == nil)
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

    @Test func `a table with a code of the server twice says so`() {
        let errors = ModuleErrors(UserError.self, [301: .userNotFound, "301": .nameTaken, 301: .nameTaken])

        #expect(errors.clash == .repeatedServerCode(module: "UserError", serverCode: 301))
    }

    @Test func `a table with a status twice says so`() {
        let errors = ModuleErrors(UserError.self, statuses: [404: .userNotFound, 410: .nameTaken, 404: .nameTaken])

        #expect(errors.clash == .repeatedStatus(module: "UserError", status: 404))
    }

    @Test func `two statuses may have one meaning`() {
        let errors = ModuleErrors(UserError.self, statuses: [404: .userNotFound, 410: .userNotFound])

        #expect(errors.clash == nil)
        #expect(errors.failure(forStatus: 410) == ModuleFailure(module: "UserError", code: 1001))
        #expect(errors.failure(forStatus: 500) == nil)
    }

    @Test func `a table with a clash is not registered`() {
        let registry = ModuleRegistry()

        #expect(throws: ModuleCodeClash.reserved(module: "LowError", code: 0)) {
            try registry.register(ModuleErrors(LowError.self))
        }
        #expect(registry.modules == [])
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
