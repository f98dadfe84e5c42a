import Foundation
import Testing

/// The rule for sending a request again is written in the same sentence everywhere.
@Suite struct ResendSentenceTests {
    private static let sentence = """
        An unsafe request (POST, PUT, PATCH, DELETE) without an idempotency key is never sent to two servers at the \
        same time, and it is not sent again while an earlier copy may still be executed.
        """

    @Test(arguments: [
        "README.md", "Sources/Switchyard/Switchyard.docc/Switching.md", "Sources/Switchyard/Switchyard.docc/Recipes.md",
        "Sources/Switchyard/Switchyard.docc/Interceptors.md", "Sources/Switchyard/Switchyard.docc/Errors.md",
        "Sources/SwitchyardHTTP/Messages/ResendRule.swift", "Sources/SwitchyardClient/Requests/APIConfiguration.swift",
        "Sources/SwitchyardClient/Interceptors/RoundResult.swift",
    ])
    func `the README, articles and comments contain the same sentence on sending requests again`(path: String) throws {
        let text = try String(contentsOf: ArticleText.repository.appendingPathComponent(path), encoding: .utf8)
        let words = text.split { $0.isWhitespace }.filter { $0 != "///" }.joined(separator: " ")

        #expect(words.contains(Self.sentence))
    }
}
