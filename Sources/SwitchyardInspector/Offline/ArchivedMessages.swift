import Foundation
import SwitchyardClient
import SwitchyardDiagnostics
import SwitchyardHTTP

extension CallDetail {
    /// Adds the messages of the WebSockets that the exchanges of the call opened.
    mutating func addMessages(of exchanges: [ArchivedExchange]) {
        let archived = exchanges.flatMap(\.messages)
        guard !archived.isEmpty else { return }
        var (stream, messages) = (InspectedStream(), KeptMessages())
        for message in archived {
            stream.add(message)
            messages.add(message, textLimit: .max)
        }
        stream.end = max(call.end ?? call.start, messages.all.last?.time ?? call.start)
        call.stream = stream
        self.messages = messages.all
    }
}

extension InspectedMessage {
    /// The valid times in seconds since 1970.
    ///
    /// A message without a valid time is shown at the start of its exchange.
    private static let times = 1.0...1e11

    /// Returns the messages of an archived exchange that started at the time `start`, without their texts.
    ///
    /// A text may be a credential that cannot be recognized, such as a bare token.
    static func all(in entry: HARArchive.Entry, start: Double, _ redaction: Redaction) -> [InspectedMessage] {
        let keeper = MessageKeeper(redaction: redaction, bytes: 0)
        return (entry.webSocketMessages ?? []).map { message in
            keeper.kept(StreamMessage(message), at: times.contains(message.time) ? message.time * 1_000 : start)
        }
    }
}

extension StreamMessage {
    fileprivate init(_ message: HARWebSocketMessage) {
        let direction: Direction = message.type == "send" ? .sent : .received
        switch message.opcode {
        case 1: self.init(direction, type: "text", text: message.data)
        case 2: self.init(direction, type: "binary", size: Data(base64Encoded: message.data)?.count ?? 0)
        case 8: self.init(direction, type: "close", size: 0)
        default: self.init(direction, type: "opcode \(message.opcode)", size: 0)
        }
    }
}
