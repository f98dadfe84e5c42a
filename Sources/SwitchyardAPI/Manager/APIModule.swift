package import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The common properties of the responses of one API module: envelope (the outer JSON object), decoding, rules, and the
/// meaning of errors.
///
/// A manager creates it once and stores it:
///
///     let module = APIModule(
///         errors: ModuleErrors(UserError.self, codes: [301: .userNotFound], statuses: [409: .nameTaken]),
///         envelope: Envelope(success: [0])
///     )
public struct APIModule: Sendable {
    private struct Parts: Sendable {
        var rules: ResponseRules
        let errors: ModuleErrors?
        let envelope: Envelope?
        let errorBody: ErrorBody?
        /// The content of the envelope, or the whole response if there is no envelope.
        let data: ResponsePart
        let decoding: JSONDecoding
        var messages: ErrorMessages
        var formatError: (@Sendable (APIError) -> APIError)?
        let shelf: DecoderCache
    }

    /// All properties are stored behind one reference, because every call copies its module.
    private var parts: Boxed<Parts>

    /// The rules that a response must satisfy before it is decoded.
    ///
    /// A call may set its own rules instead.
    public var rules: ResponseRules {
        get { parts.value.rules }
        set { change { $0.rules = newValue } }
    }
    /// The mapping of the server's business codes and statuses to the module's codes, or `nil` if there is none.
    public var errors: ModuleErrors? { parts.value.errors }
    /// The envelope of every response (the outer JSON object with code, message and data), or `nil` if there is none.
    public var envelope: Envelope? { parts.value.envelope }
    /// The location of the error in the body of a rejected call, or `nil` if the body is not read.
    public var errorBody: ErrorBody? { parts.value.errorBody }
    /// The decoding of JSON into values.
    public var decoding: JSONDecoding { parts.value.decoding }
    /// The messages for the user.
    public var messages: ErrorMessages {
        get { parts.value.messages }
        set { change { $0.messages = newValue } }
    }
    /// A closure that changes each error of a call before it is delivered, including cancellations.
    ///
    /// There is none by default.
    ///
    /// The closure does not receive the errors of a ``PageRecorder``. It does not receive the errors that a request
    /// object's hooks, filters and preprocessors throw either.
    public var formatError: (@Sendable (APIError) -> APIError)? {
        get { parts.value.formatError }
        set { change { $0.formatError = newValue } }
    }

    /// A module without envelope and without codes of its own.
    public static let standard = APIModule()

    /// Creates a module.
    ///
    /// - Parameters:
    ///   - errors: The mapping of the server's business codes and statuses to the module's codes, none by default.
    ///   - envelope: The envelope of every response, none by default.
    ///   - errorBody: The location of the error in the body of a rejected call, for a service without an envelope.
    ///     The default is ``ErrorBody/common``. A module with an envelope does not use this default. If `nil`, the body
    ///     is not read.
    ///   - decoding: The JSON decoding, by default ``JSONDecoding/standard``.
    ///   - rules: The rules that a response must satisfy before it is decoded, by default ``ResponseRules/strict``.
    ///   - messages: The messages for the user. By default, they are those of `errors`. The messages of `errors` are
    ///     also used for codes of the module that have no message here.
    public init(
        errors: ModuleErrors? = nil,
        envelope: Envelope? = nil,
        errorBody: ErrorBody? = .common,
        decoding: JSONDecoding = .standard,
        rules: ResponseRules = .strict,
        messages: ErrorMessages? = nil
    ) {
        parts = Boxed(
            Parts(
                rules: rules,
                errors: errors,
                envelope: envelope,
                errorBody: envelope == nil || errorBody != .common ? errorBody : nil,
                data: envelope.map { ResponsePart(.frame($0)) } ?? .whole,
                decoding: decoding,
                messages: errors.map { messages?.filled(from: $0) ?? $0.messages } ?? messages ?? .standard,
                shelf: DecoderCache(decoding: decoding, envelope: envelope)
            )
        )
    }

    private mutating func change(_ change: (inout Parts) -> Void) {
        var copy = parts.value
        change(&copy)
        parts = Boxed(copy)
    }

    /// Returns a serializer for a type that removes the module's envelope.
    ///
    /// - Parameters:
    ///   - type: The type. If it is optional, the value may be missing.
    ///   - keyPath: The key path of the value within the data. By default, the value is the whole data.
    /// - Returns: The serializer.
    public func serializer<Value: Decodable>(
        for type: Value.Type = Value.self,
        at keyPath: String? = nil
    ) -> ResponseSerializer<Value> {
        let keyPath = keyPath ?? ""
        guard envelope != nil || !keyPath.isEmpty else { return .decodable(type, using: decoding) }
        let placed = parts.value.shelf.decoding(at: keyPath)
        let empty = type.valueOfEmptyBody
        var serializer = ResponseSerializer<Value>(accepting: MediaType.jsonTypes, emptyValue: empty) { response in
            guard !response.isBlank else { return try type.valueOfEmptyBody.orThrowEmpty() }
            let text = try TextEncoding.utf8(response)
            switch try placed.decode(FramedContent<Value>.self, from: text) {
            case .value(let value): return value
            case .refused(let code, let message): throw refusal(code, message)
            }
        }
        serializer.part = data.at(keyPath)
        return serializer
    }

    /// The part of a response that is its data: the content of the envelope, or the whole body without an envelope.
    var data: ResponsePart { parts.value.data }

    /// Returns the error for a code that the server has sent in the envelope.
    func refusal(_ code: BusinessCode, _ message: String?) -> APIError {
        if let errors { return errors.error(for: code, serverMessage: message) }
        return APIError(.module(ModuleFailure(module: "", code: nil, serverCode: code)), serverMessage: message)
    }

    /// Throws an error if the module's error table gives two meanings to a number.
    package func check() throws(APIError) {
        if let clash = parts.value.errors?.clash { throw completed(APIError(.configuration(.moduleCodes(clash)))) }
    }

    /// Returns the reason from this module's point of view.
    ///
    /// If it is a failure of another module, the server's code is looked up in this module's table.
    func own(_ reason: APIError.Reason) -> APIError.Reason {
        guard envelope != nil, case .module(let failure) = reason, let code = failure.serverCode,
            failure.module != (errors?.module ?? "")
        else { return reason }
        return refusal(code, nil).reason
    }

    /// Returns the error with the module's messages and the content of the rejected call's body, with the app's
    /// formatting applied.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - text: The body as a decoder reads it. If `nil`, the body in the error is used.
    /// - Returns: The error as it is delivered.
    package func completed(_ error: APIError, reading text: @autoclosure () -> Data? = nil) -> APIError {
        var completed = informed(error, reading: text)
        completed.messages = messages
        completed = formatError?(completed) ?? completed
        completed.plain = error.plain ?? Boxed(error)
        return completed
    }

    /// Returns the error with the module's meaning of a rejected status, and with the content of the body.
    ///
    /// If the response envelope contains a code that the module knows, the code is more specific than the status. If it
    /// contains another code, only its message is used.
    private func informed(_ error: APIError, reading text: () -> Data?) -> APIError {
        guard case .status(let status) = error.reason else { return error }
        var error = error
        var failure = errors?.failure(forStatus: status)
        if let envelope, let frame = frame(of: error, reading: text) {
            error.serverMessage = frame.message
            if let code = frame.code, !envelope.success.contains(code), let known = errors?.failure(for: code),
                known.code != nil
            {
                failure = known
            }
        }
        if let content = errorContent(of: error, status: status, reading: text) {
            error.serverMessage = error.serverMessage ?? content.message
            error.fieldMessages = content.fields
            error.serverCode = content.code
            if let known = content.code.flatMap({ errors?.failure(for: $0) }), known.code != nil { failure = known }
        }
        if let failure {
            error.reason = .module(failure)
            error.prefersOwnText = errorBody?.prefersModuleTexts ?? false
        }
        return error
    }

    /// Returns the error content in the body of a rejected call.
    ///
    /// The result is `nil` if the module describes no error body or the body is not JSON. ``ErrorBody/common`` is used
    /// only for client errors, because the text of a failing server is not meant for users.
    private func errorContent(of error: APIError, status: Int, reading text: () -> Data?) -> ErrorBody.Content? {
        guard let errorBody, !error.context.body.isEmpty else { return nil }
        guard errorBody != .common || (400..<500).contains(status) else { return nil }
        guard let body = try? decoding.tree(text() ?? error.context.body) else { return nil }
        return errorBody.content(of: body)
    }

    /// Returns the envelope (the outer JSON object with code and message) in the body of a rejected call, or `nil` if
    /// there is none.
    private func frame(of error: APIError, reading text: () -> Data?) -> FrameContent? {
        guard !error.context.body.isEmpty else { return nil }
        return try? parts.value.shelf.decoding(at: "").decode(FrameContent.self, from: text() ?? error.context.body)
    }
}

/// The decoders of a module, one for each key path, because creating a decoder costs more than using it.
private final class DecoderCache: Sendable {
    private static let limit = 64

    private let decoding: JSONDecoding
    private let envelope: Envelope?
    private let placed = Locked<[String: JSONDecoding]>([:])

    init(decoding: JSONDecoding, envelope: Envelope?) {
        self.decoding = decoding
        self.envelope = envelope
    }

    func decoding(at keyPath: String) -> JSONDecoding {
        if let known = placed.withLock({ $0[keyPath] }) { return known }
        guard let key = ContentPlace.userInfoKey else { return decoding }
        let new = decoding.adding(key, ContentPlace(envelope: envelope, keyPath: keyPath))
        placed.withLock { if $0.count < Self.limit { $0[keyPath] = new } }
        return new
    }
}
