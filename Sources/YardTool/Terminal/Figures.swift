import Foundation

extension Duration {
    /// The duration as readable text: `0.42 ms`, `38 ms`, `1.5 s`.
    var figure: String {
        let milliseconds = Double(components.seconds) * 1000 + Double(components.attoseconds) / 1e15
        switch milliseconds {
        case ..<9.995: return String(format: "%.2f ms", milliseconds)
        case ..<999.5: return String(format: "%.0f ms", milliseconds)
        default: return String(format: "%.1f s", milliseconds / 1000)
        }
    }
}

extension Int {
    /// The number with thousands separators: `1,234,567`.
    var figure: String {
        var digits = String(magnitude)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return (self < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
    }

    /// Returns the number with a noun in the singular or the plural: `1 switch`, `2 switches`.
    func figure(_ one: String, _ many: String) -> String { "\(figure) \(self == 1 ? one : many)" }

    /// The number as a size in bytes: `512 B`, `8.0 MiB`.
    var byteFigure: String {
        self < 1_048_576 ? "\(figure) B" : String(format: "%.1f MiB", Double(self) / 1_048_576)
    }
}

extension Double {
    /// A share from 0 to 1 as a percentage with at most two decimal places: `0.25 %`.
    var percent: String {
        let value = (self * 100).rounded(places: 2)
        return value == value.rounded() ? "\(Int(value)) %" : "\(value) %"
    }

    /// Returns the number rounded to this number of decimal places.
    func rounded(places: Int) -> Double {
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        return (self * scale).rounded() / scale
    }
}
