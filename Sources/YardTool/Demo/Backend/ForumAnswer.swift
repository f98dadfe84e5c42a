import Foundation
import SwitchyardTesting

/// The frame that the forum puts around every answer: a code, a message for the user, and the data.
struct ForumAnswer<Value: Encodable>: Encodable {
    var code: Int
    var message: String
    var data: Value?

    /// The answer as JSON.
    func response(status: Int = 200) throws -> LoopbackResponse {
        .json(try JSONEncoder().encode(self), status: status)
    }
}

extension LoopbackResponse {
    /// An answer that holds a value.
    static func forum(_ value: some Encodable) throws -> LoopbackResponse {
        try ForumAnswer(code: 0, message: "", data: value).response()
    }

    /// A refusal by a code of the forum's own.
    static func forumRefusal(_ code: Int, status: Int) throws -> LoopbackResponse {
        try ForumAnswer<Bool>(code: code, message: "").response(status: status)
    }
}
