/// The capacity of a server over time, as a piecewise linear function.
///
/// The integral of the function is the work that a busy server has done up to a time. A first-in-first-out queue can
/// therefore be represented by one number: the total work that the server has done when the last entry of the queue is
/// processed. The profile converts this number to a time.
struct CapacityProfile: Sendable {
    /// A linear piece of the function, from its start until the next piece starts.
    struct Piece: Sendable {
        /// The start in seconds.
        var start: Double
        /// The work per second at the start of the piece.
        ///
        /// It must be above 0.
        var rate: Double
        /// The change of the rate per second.
        ///
        /// It must not make the rate negative.
        var slope = 0.0
    }

    private struct Part {
        var piece: Piece
        /// The work that is done before the piece starts.
        var before: Double
    }

    private var parts: [Part] = []

    /// Creates a profile from its linear pieces in order of time.
    ///
    /// The first piece must start at 0.
    init(_ pieces: [Piece]) {
        for piece in pieces { parts.append(Part(piece: piece, before: work(until: piece.start))) }
    }

    /// Returns the work per second at the given time.
    func rate(at time: Double) -> Double {
        guard let piece = (parts.last { $0.piece.start <= time } ?? parts.first)?.piece else { return 0 }
        return piece.rate + piece.slope * (time - piece.start)
    }

    /// Returns the work that a continuously busy server has done from the start until a time.
    func work(until time: Double) -> Double {
        guard let part = parts.last(where: { $0.piece.start <= time }) else { return 0 }
        let elapsed = time - part.piece.start
        return part.before + elapsed * (part.piece.rate + part.piece.slope * elapsed / 2)
    }

    /// Returns the time at which a continuously busy server has done this work: the inverse of ``work(until:)``.
    func time(ofWork work: Double) -> Double {
        guard let part = parts.last(where: { $0.before <= work }) else { return 0 }
        let (rest, rate, slope) = (work - part.before, part.piece.rate, part.piece.slope)
        // This form of the quadratic formula is numerically stable, and also correct for a slope of 0.
        return part.piece.start + 2 * rest / (rate + (rate * rate + 2 * slope * rest).squareRoot())
    }
}
