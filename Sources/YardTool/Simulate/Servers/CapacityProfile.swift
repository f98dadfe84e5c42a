/// How much work a server can do at each moment: pieces of straight lines over time.
///
/// The area below the line is the work that a busy server has done. A queue that is worked off in order is therefore no
/// more than a number, the work after which its last entry is done; when that will be follows from the profile.
struct CapacityProfile: Sendable {
    /// A straight line that begins at a time and holds until the next piece begins.
    struct Piece: Sendable {
        /// When it begins, in seconds.
        var start: Double
        /// The work per second at its start; above 0.
        var rate: Double
        /// By how much the rate grows per second; never so negative that the rate ends.
        var slope = 0.0
    }

    private struct Part {
        var piece: Piece
        /// The work done before the piece begins.
        var before: Double
    }

    private var parts: [Part] = []

    /// Creates a profile from pieces in the order of time, of which the first begins at 0.
    init(_ pieces: [Piece]) {
        for piece in pieces { parts.append(Part(piece: piece, before: work(until: piece.start))) }
    }

    /// The work per second at a time.
    func rate(at time: Double) -> Double {
        guard let piece = (parts.last { $0.piece.start <= time } ?? parts.first)?.piece else { return 0 }
        return piece.rate + piece.slope * (time - piece.start)
    }

    /// The work that a server busy from the beginning has done by a time.
    func work(until time: Double) -> Double {
        guard let part = parts.last(where: { $0.piece.start <= time }) else { return 0 }
        let elapsed = time - part.piece.start
        return part.before + elapsed * (part.piece.rate + part.piece.slope * elapsed / 2)
    }

    /// When a server busy from the beginning has done that much work: the inverse of ``work(until:)``.
    func time(ofWork work: Double) -> Double {
        guard let part = parts.last(where: { $0.before <= work }) else { return 0 }
        let (rest, rate, slope) = (work - part.before, part.piece.rate, part.piece.slope)
        // The stable form of the quadratic formula, which holds for a slope of 0 as well.
        return part.piece.start + 2 * rest / (rate + (rate * rate + 2 * slope * rest).squareRoot())
    }
}
