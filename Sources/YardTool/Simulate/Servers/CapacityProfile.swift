/// The capacity of a server over time, as a piecewise linear function.
///
/// The integral of the function is the work that a busy server has done. A first-in-first-out queue can therefore be
/// represented by one number: the total work after which its last entry is done. The profile converts this number to a
/// time.
struct CapacityProfile: Sendable {
    /// A linear piece that holds from its start until the next piece starts.
    struct Piece: Sendable {
        /// The start in seconds.
        var start: Double
        /// The work per second at the start, which is above 0.
        var rate: Double
        /// The growth of the rate per second, which must not make the rate negative.
        var slope = 0.0
    }

    private struct Part {
        var piece: Piece
        /// The work done before the piece starts.
        var before: Double
    }

    private var parts: [Part] = []

    /// Creates a profile from pieces in order of time, of which the first starts at 0.
    init(_ pieces: [Piece]) {
        for piece in pieces { parts.append(Part(piece: piece, before: work(until: piece.start))) }
    }

    /// Returns the work per second at a time.
    func rate(at time: Double) -> Double {
        guard let piece = (parts.last { $0.piece.start <= time } ?? parts.first)?.piece else { return 0 }
        return piece.rate + piece.slope * (time - piece.start)
    }

    /// Returns the work that a continuously busy server has done by a time.
    func work(until time: Double) -> Double {
        guard let part = parts.last(where: { $0.piece.start <= time }) else { return 0 }
        let elapsed = time - part.piece.start
        return part.before + elapsed * (part.piece.rate + part.piece.slope * elapsed / 2)
    }

    /// Returns the time at which a continuously busy server has done this work, which is the inverse of
    /// ``work(until:)``.
    func time(ofWork work: Double) -> Double {
        guard let part = parts.last(where: { $0.before <= work }) else { return 0 }
        let (rest, rate, slope) = (work - part.before, part.piece.rate, part.piece.slope)
        // The numerically stable form of the quadratic formula also holds for a slope of 0.
        return part.piece.start + 2 * rest / (rate + (rate * rate + 2 * slope * rest).squareRoot())
    }
}
