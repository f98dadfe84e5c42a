import SwitchyardRequests
import Testing

@testable import SwitchyardAPI

@Suite struct ModuleErrorsTests {
    @Test func `a server code becomes a typed error code of the module`() {
        let errors = ModuleErrors(UserError.self, codes: [301: .userNotFound, "TAKEN": .nameTaken])

        let error = errors.error(for: 301, serverMessage: "gone")

        #expect(error.code == .module(1001))
        #expect(error.module(UserError.self) == .userNotFound)
        #expect(error.module(OverlappingError.self) == nil)
        #expect(error.message == "gone")
        #expect(errors.error(for: "TAKEN").module(UserError.self) == .nameTaken)
    }

    @Test func `an unknown server code becomes a module failure that keeps the code`() {
        let errors = ModuleErrors(UserError.self, codes: [301: .userNotFound])

        let error = errors.error(for: 777)

        #expect(error.code == .failed)
        #expect(error.reason == .module(ModuleFailure(module: "UserError", code: nil, serverCode: 777)))
    }

    @Test func `a module's error table reports a clash if a number is below 1001`() {
        #expect(ModuleErrors(LowError.self).clash == .reserved(module: "LowError", code: 0))
        #expect(ModuleErrors(UserError.self).clash == nil)
    }

    @Test func `the second of two modules with the same error number is not registered`() throws {
        let registry = ModuleRegistry()
        try registry.register(ModuleErrors(UserError.self))
        try registry.register(ModuleErrors(TopicError.self))

        #expect(throws: ModuleErrors.Clash.taken(code: 1001, by: "UserError", wantedBy: "OverlappingError")) {
            try registry.register(ModuleErrors(OverlappingError.self))
        }
        #expect(throws: ModuleErrors.Clash.sameName(module: "UserError")) {
            try registry.register(ModuleErrors(UserError.self))
        }
        #expect(registry.modules == ["TopicError", "UserError"])
    }

    @Test func `a module's error table reports a clash if a server code occurs twice`() {
        let errors = ModuleErrors(UserError.self, codes: [301: .userNotFound, "301": .nameTaken, 301: .nameTaken])

        #expect(errors.clash == .repeatedServerCode(module: "UserError", serverCode: 301))
    }

    @Test func `a module's error table reports a clash if a status occurs twice`() {
        let errors = ModuleErrors(UserError.self, statuses: [404: .userNotFound, 410: .nameTaken, 404: .nameTaken])

        #expect(errors.clash == .repeatedStatus(module: "UserError", status: 404))
    }

    @Test func `two statuses in a module's error table may have the same code`() {
        let errors = ModuleErrors(UserError.self, statuses: [404: .userNotFound, 410: .userNotFound])

        #expect(errors.clash == nil)
        #expect(errors.failure(forStatus: 410) == ModuleFailure(module: "UserError", code: 1001))
        #expect(errors.failure(forStatus: 500) == nil)
    }

    @Test func `a module whose error table has a clash is not registered`() {
        let registry = ModuleRegistry()

        #expect(throws: ModuleErrors.Clash.reserved(module: "LowError", code: 0)) {
            try registry.register(ModuleErrors(LowError.self))
        }
        #expect(registry.modules == [])
    }

    @Test func `a switch over an error code needs a default case, because modules add codes`() {
        let text =
            switch UserError.userNotFound.error().code {
            case .module(1001): "not found"
            case .notConnected: "offline"
            default: "other"
            }

        #expect(text == "not found")
    }
}
