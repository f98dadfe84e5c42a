extension InspectedCall {
    /// The servers that received the request, in order: `primary › secondary`.
    var route: String { attempts.compactMap(\.server).joined(separator: " › ") }

    /// The error or the status of the call.
    var result: String { outcome?.error ?? outcome?.status.map { "\($0)" } ?? "active" }

    /// The duration of the call, or a dash while the call is active.
    var took: String { end.map { VerdictText.milliseconds($0 - start) } ?? "–" }

    /// Whether the call received no response, or a response with a status of at least 400.
    ///
    /// A call that the app cancelled has not failed.
    var hasFailed: Bool { outcome.map { $0.kind != nil && !$0.isCancelled } ?? false }
}

extension InspectedCall.Outcome {
    /// The kind of failure, such as `connectionRefused` or `http503`, or `nil` if the call succeeded.
    var kind: String? {
        if let error { return error }
        return status.flatMap { $0 >= 400 ? "http\($0)" : nil }
    }

    /// Whether the app cancelled the call.
    ///
    /// Such a call has neither succeeded nor failed.
    var isCancelled: Bool { error == "cancelled" }
}

extension InspectedAttempt {
    /// The error or the status of the attempt.
    var result: String {
        if isCut == true { return "cancelled" }
        return error ?? status.map { "\($0)" } ?? (end == nil ? "active" : "completed")
    }

    /// The duration of the attempt, or a dash if the end is unknown.
    var took: String { end.map { VerdictText.milliseconds($0 - start) } ?? "–" }
}
