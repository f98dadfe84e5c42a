import Switchyard

/// A step in which a call fails with a module's own error.
///
/// The error has a message for the user in two languages.
struct ModuleErrorStep: DemoStep {
    let title = "An error of a module, in the user's language"

    func run(on stage: DemoStage) async throws {
        let users = stage.users
        guard var error = await failure(of: { () throws(APIError) in _ = try await users.user(id: 99) }) else {
            throw BrokenClaim("user 99 does not exist")
        }
        stage.record { $0.requests += 1 }
        stage.screen.say("user(id: 99)  code \(error.code.number), server \(error.context.server ?? "-")")
        var messages: [String] = []
        for (name, language) in [("English", MessageLanguage.english), ("中文", .simplifiedChinese)] {
            error.messages.languages = [language]
            messages.append(error.message)
            stage.screen.say("\(name.padded(to: 8))  \(error.message)")
        }
        let isOwn = error.module(UserError.self) == .userNotFound
        stage.record { $0.moduleErrors += isOwn ? 1 : 0 }
        try stage.claim(
            isOwn && Set(messages).count == 2,
            "the screen can handle UserError.userNotFound in a switch statement"
        )
    }
}
