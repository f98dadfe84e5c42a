import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// The newest messages of a stream, in order of time.
struct KeptMessages: Sendable {
    /// The maximum number of messages that are kept for each call.
    static let limit = 200

    private(set) var all: [InspectedMessage] = []
    private var count = 0
    private var textBytes = 0

    /// Adds a message, and drops the oldest message and the oldest texts beyond the limits.
    ///
    /// The number of the message is set here. `limit` is the maximum number of bytes of all texts.
    mutating func add(_ message: InspectedMessage, textLimit limit: Int) {
        count += 1
        var message = message
        message.number = count
        textBytes += message.text?.utf8.count ?? 0
        // A message that waited to be sent may be reported after messages that were received meanwhile.
        let place = all.lastIndex { $0.time <= message.time }.map { $0 + 1 } ?? 0
        all.insert(message, at: place)
        if all.count > Self.limit { textBytes -= all.removeFirst().text?.utf8.count ?? 0 }
        for place in all.indices where textBytes > limit { textBytes -= all[place].dropText() }
    }
}

extension InspectedMessage {
    /// Drops the text, and returns the number of its bytes.
    fileprivate mutating func dropText() -> Int {
        guard let dropped = text else { return 0 }
        (text, isCut) = (nil, nil)
        return dropped.utf8.count
    }
}

/// A converter that redacts messages and cuts their texts before they are stored.
struct MessageKeeper: Sendable {
    /// How many bytes beyond the stored part of a text redaction also searches for secrets.
    ///
    /// This is the assumed maximum length of an access token.
    private static let margin = 65_536

    private let redaction: Redaction
    /// The maximum number of bytes that are stored of each text; 0 for none.
    private let bytes: Int

    init(redaction: Redaction, bytes: Int) {
        self.redaction = redaction
        self.bytes = bytes
    }

    /// The number of bytes of each text that the converter needs.
    var neededBytes: Int { bytes == 0 ? 0 : bytes + Self.margin }

    /// Returns the stored form of a message, without its number.
    func kept(_ message: StreamMessage, at time: Double) -> InspectedMessage {
        var kept = InspectedMessage(
            number: 0,
            direction: message.direction,
            time: time,
            type: redaction.text(message.type),
            size: message.size
        )
        guard bytes > 0, let text = message.text else { return kept }
        let data = Data(text.utf8)
        let isWhole = data.count == message.size
        let shown = redaction.body(data, contentType: nil)
        // The end of an incomplete text may contain a part of a secret that is not recognized without the rest.
        let limit = isWhole ? bytes : min(bytes, max(0, shown.count - Self.margin))
        var part = shown.prefix(limit)
        part.removeLast(part.incompleteCharacter)
        kept.text = String(decoding: part, as: UTF8.self)
        if !isWhole || part.count < shown.count { kept.isCut = true }
        return kept
    }
}
