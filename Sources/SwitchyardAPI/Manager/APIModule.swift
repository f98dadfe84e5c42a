package import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// What all answers of one module have in common: how they are framed, decoded, checked, and what their errors mean.
///
/// A manager makes it once and keeps it:
///
///     let module = APIModule(
///         errors: ModuleErrors(UserError.self, [301: .userNotFound], statuses: [409: .nameTaken]),
///         envelope: Envelope(success: [0])
///     )
public struct APIModule: Sendable {
    private struct Parts: Sendable {
        var rules: ResponseRules
        let errors: ModuleErrors?
        let envelope: Envelope?
        let errorBody: ErrorBody?
        /// What stands within the frame; all of an answer without one.
        let data: AnswerPart
        let decoding: JSONDecoding
        var messages: ErrorMessages
        var formatError: (@Sendable (APIError) -> APIError)?
        let shelf: DecodingShelf
    }

    /// All parts behind one reference, since every call takes its module along.
    private var parts: Boxed<Parts>

    /// What an answer has to be before it is decoded; a call may have rules of its own.
    public var rules: ResponseRules {
        get { parts.value.rules }
        set { change { $0.rules = newValue } }
    }
    /// How the server's business codes and statuses become the module's own; `nil` when the module has none.
    public var errors: ModuleErrors? { parts.value.errors }
    /// The frame around every answer; `nil` when there is none.
    public var envelope: Envelope? { parts.value.envelope }
    /// Where the body of a refusal says what is wrong; `nil` if it is not looked for.
    public var errorBody: ErrorBody? { parts.value.errorBody }
    /// How JSON becomes values.
    public var decoding: JSONDecoding { parts.value.decoding }
    /// The words for the user.
    public var messages: ErrorMessages {
        get { parts.value.messages }
        set { change { $0.messages = newValue } }
    }
    /// Changes each error of a call before it is delivered, as into the words of the app, cancellations too; none
    /// unless set.
    ///
    /// It does not see the ends of a ``PageRecorder``, nor what a request object's hooks, filters and preprocessors throw.
    public var formatError: (@Sendable (APIError) -> APIError)? {
        get { parts.value.formatError }
        set { change { $0.formatError = newValue } }
    }

    /// A module without frame and without codes of its own.
    public static let standard = APIModule()

    /// Creates a module.
    ///
    /// - Parameters:
    ///   - errors: How the server's business codes and statuses become the module's own; none unless given.
    ///   - envelope: The frame around every answer; none unless given.
    ///   - errorBody: Where the body of a refusal says what is wrong, in a service without a frame;
    ///     ``ErrorBody/common`` by default, which a module with a frame does not use, `nil` for nowhere.
    ///   - decoding: How JSON becomes values; ``JSONDecoding/standard`` unless given.
    ///   - rules: What an answer has to be before it is decoded; ``ResponseRules/strict`` unless given.
    ///   - messages: The words for the user; those of `errors` unless given, which also speak for the module's codes that
    ///     have none here.
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
                data: envelope.map { AnswerPart(.frame($0)) } ?? .whole,
                decoding: decoding,
                messages: errors.map { messages?.filled(from: $0) ?? $0.messages } ?? messages ?? .standard,
                shelf: DecodingShelf(decoding: decoding, envelope: envelope)
            )
        )
    }

    private mutating func change(_ change: (inout Parts) -> Void) {
        var copy = parts.value
        change(&copy)
        parts = Boxed(copy)
    }

    /// The serialiser for a type, with the module's frame taken off.
    ///
    /// - Parameters:
    ///   - type: The type; an optional one may be missing.
    ///   - keyPath: Where the value stands within the data; all of the data unless given.
    /// - Returns: The serialiser.
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

    /// The part of an answer that is its data: what stands within the frame.
    var data: AnswerPart { parts.value.data }

    /// The error that a code of the server stands for.
    func refusal(_ code: BusinessCode, _ message: String?) -> APIError {
        if let errors { return errors.error(for: code, serverMessage: message) }
        return APIError(.module(ModuleFailure(module: "", code: nil, serverCode: code)), serverMessage: message)
    }

    /// Refuses the calls of a module in whose table of errors a number has two meanings.
    package func check() throws(APIError) {
        if let clash = parts.value.errors?.clash { throw completed(APIError(.configuration(.moduleCodes(clash)))) }
    }

    /// What another module's failure is to this one: the code that the server sent, by this one's table.
    func own(_ reason: APIError.Reason) -> APIError.Reason {
        guard envelope != nil, case .module(let failure) = reason, let code = failure.serverCode,
            failure.module != (errors?.module ?? "")
        else { return reason }
        return refusal(code, nil).reason
    }

    /// The error with the module's words, and with what the body of a refused answer says, formatted by the app.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - text: The body as a decoder reads it; the one that the error keeps when `nil`.
    /// - Returns: The error as it is delivered.
    package func completed(_ error: APIError, reading text: @autoclosure () -> Data? = nil) -> APIError {
        var completed = informed(error, reading: text)
        completed.messages = messages
        completed = formatError?(completed) ?? completed
        completed.plain = error.plain ?? Boxed(error)
        return completed
    }

    /// The error with what the status of a refused answer means to the module, and with what its body says.
    ///
    /// A frame with a code that the module knows says more than the status; with another code only its message is taken.
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

    /// What the body of a refusal says; `nil` without a description of it, and for a body that is no JSON.
    ///
    /// The usual places are looked into only where the client erred: what a failing server says is not meant for users.
    private func errorContent(of error: APIError, status: Int, reading text: () -> Data?) -> ErrorBody.Content? {
        guard let errorBody, !error.context.body.isEmpty else { return nil }
        guard errorBody != .common || (400..<500).contains(status) else { return nil }
        guard let body = try? decoding.tree(text() ?? error.context.body) else { return nil }
        return errorBody.content(of: body)
    }

    /// The frame around the body of a refused answer; `nil` when it is none.
    private func frame(of error: APIError, reading text: () -> Data?) -> FrameContent? {
        guard !error.context.body.isEmpty else { return nil }
        return try? parts.value.shelf.decoding(at: "").decode(FrameContent.self, from: text() ?? error.context.body)
    }
}

/// The decoders of a module, one for each place, since making one costs more than using it.
private final class DecodingShelf: Sendable {
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
