import Foundation
import SwitchyardTesting

/// The envelope of every forum response: an outer JSON object with a code, a message for the user, and the data.
struct ForumResponse<Value: Encodable>: Encodable {
    var code: Int
    var message: String
    var data: Value?

    /// Returns the response as JSON, with its code, message and data.
    func response(status: Int = 200) throws -> LoopbackResponse {
        .json(try JSONEncoder().encode(self), status: status)
    }
}

extension LoopbackResponse {
    /// Returns a successful response with a value.
    static func forum(_ value: some Encodable) throws -> LoopbackResponse {
        try ForumResponse(code: 0, message: "", data: value).response()
    }

    /// Returns an error response with a forum error code.
    static func forumRefusal(_ code: Int, status: Int) throws -> LoopbackResponse {
        try ForumResponse<Bool>(code: code, message: "").response(status: status)
    }
}
