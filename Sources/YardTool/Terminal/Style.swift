/// The style of a text on a screen.
enum Style: String, Sendable {
    case plain = ""
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"
}

extension String {
    /// Returns the text with the escape sequences of a style (ECMA-48, select graphic rendition).
    func styled(_ style: Style) -> String {
        style == .plain || isEmpty ? self : "\u{1B}[\(style.rawValue)m\(self)\u{1B}[0m"
    }

    /// The number of columns that the text occupies on a screen.
    var columns: Int {
        var width = 0
        visit { width += $0.columns }
        return width
    }

    /// Returns the text clipped to this number of columns.
    ///
    /// If a style is active at the end, it is turned off.
    func clipped(to limit: Int) -> String {
        guard columns > limit else { return self }
        var result = ""
        var width = 0
        var isStyled = false
        var isFull = false
        for piece in pieces {
            switch piece {
            case .escape(let sequence):
                isStyled = isStyled || !isFull
                if !isFull { result += sequence }
            case .character(let character):
                isFull = isFull || width + piece.columns > limit
                guard !isFull else { continue }
                width += piece.columns
                result.append(character)
            }
        }
        return isStyled ? result + "\u{1B}[0m" : result
    }

    /// Returns the text padded with spaces to this number of columns.
    func padded(to width: Int, onLeft: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - columns))
        return onLeft ? space + self : self + space
    }

    private func visit(_ body: (TextPiece) -> Void) {
        for piece in pieces { body(piece) }
    }

    private var pieces: [TextPiece] {
        var pieces: [TextPiece] = []
        var rest = self[...]
        while let character = rest.first {
            if character == "\u{1B}", let end = rest.dropFirst(2).firstIndex(where: \.isLetter) {
                pieces.append(.escape(String(rest[...end])))
                rest = rest[rest.index(after: end)...]
            } else {
                pieces.append(.character(character))
                rest = rest.dropFirst()
            }
        }
        return pieces
    }
}

/// A part of a styled text: an escape sequence or a character.
private enum TextPiece {
    case escape(String)
    case character(Character)

    /// The number of columns: zero for an escape sequence, two for an ideograph, one for any other character.
    var columns: Int {
        guard case .character(let character) = self, let scalar = character.unicodeScalars.first else { return 0 }
        return Self.wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The blocks of wide characters that the tool uses (Unicode Standard Annex 11): CJK with its punctuation,
    /// full-width forms, and Hangul.
    private static let wide: [ClosedRange<UInt32>] = [
        0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFF00...0xFF60,
    ]
}
