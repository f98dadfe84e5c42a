#if canImport(SwiftUI)
    import SwiftUI
    import SwitchyardClient

    /// The attempts of a call, with their requests and responses.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    struct CallView: View {
        let call: InspectedCall
        /// The requests and responses, or `nil` if the call is no longer kept.
        let detail: CallDetail?

        var body: some View {
            List {
                Section("Result") {
                    Text(call.outcome?.words ?? call.result)
                    LabeledContent("Duration", value: call.took)
                    if call.mayHaveBeenExecuted == true { Text("A server may have executed the request.") }
                }
                if let stream = call.stream { StreamSection(stream: stream, messages: detail?.messages ?? []) }
                Section("Attempts") {
                    ForEach(call.attempts.indices, id: \.self) { AttemptRow(attempt: call.attempts[$0]) }
                }
                if let detail {
                    ForEach(detail.attempts.indices, id: \.self) { ExchangeSections(attempt: detail.attempts[$0]) }
                }
            }
            .navigationTitle("\(call.method) \(call.path)")
        }
    }

    /// The messages of an event stream or a WebSocket.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    private struct StreamSection: View {
        let stream: InspectedStream
        let messages: [InspectedMessage]

        var body: some View {
            Section("Messages") {
                LabeledContent("Received", value: "\(stream.received)")
                LabeledContent("Sent", value: "\(stream.sent)")
                LabeledContent("State", value: stream.end == nil ? "open" : "ended")
                ForEach(messages, id: \.number) { message in
                    VStack(alignment: .leading) {
                        Text("\(message.direction.rawValue) \(message.type), \(message.size) bytes").font(.caption)
                        if let text = message.text { Text(text).font(.caption.monospaced()).lineLimit(20) }
                    }
                    .accessibilityElement(children: .combine)
                }
            }
        }
    }

    /// An attempt: its server, its reason and its result.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    private struct AttemptRow: View {
        let attempt: InspectedAttempt

        var body: some View {
            VStack(alignment: .leading) {
                HStack {
                    Text(attempt.server ?? attempt.url).font(.headline)
                    Spacer()
                    Text(attempt.took).monospacedDigit()
                }
                Text([attempt.kind.rawValue, attempt.result, attempt.next].compactMap(\.self).joined(separator: ", "))
                    .font(.caption)
            }
            .accessibilityElement(children: .combine)
        }
    }

    /// The request and the response of an attempt.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    private struct ExchangeSections: View {
        let attempt: CallDetail.Attempt

        var body: some View {
            MessageSection(title: "Request \(attempt.number)", message: attempt.request)
            if let response = attempt.response {
                MessageSection(title: "Response \(attempt.number)", message: response)
            }
        }
    }

    /// A request or a response: its line, its header fields and its body.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    private struct MessageSection: View {
        let title: String
        let message: CallDetail.Message

        var body: some View {
            Section(title) {
                Text(message.line).font(.caption.monospaced())
                ForEach(message.fields.indices, id: \.self) { place in
                    Text(message.fields[place].joined(separator: ": ")).font(.caption.monospaced())
                }
                if let text = message.body.text ?? message.body.note ?? message.body.bytes.map({ "\($0) bytes" }) {
                    Text(text).font(.caption.monospaced()).lineLimit(200)
                }
            }
        }
    }
#endif
