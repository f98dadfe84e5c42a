/// A table in plain text: columns as wide as their widest cell.
struct TextTable {
    /// On which side a column's cells stand.
    enum Alignment: Sendable {
        case left
        case right
    }

    private let alignments: [Alignment]
    private var rows: [[String]]

    /// Creates a table with a heading over each column.
    init(_ columns: KeyValuePairs<String, Alignment>) {
        alignments = columns.map(\.value)
        rows = [columns.map(\.key)]
    }

    /// Adds a row; cells may be styled.
    mutating func add(_ cells: [String]) {
        rows.append(cells)
    }

    /// The lines, the heading first.
    var lines: [String] {
        let widths = alignments.indices.map { column in
            rows.map { column < $0.count ? $0[column].columns : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = zip(row, zip(widths, alignments)).map { cell, place in
                cell.padded(to: place.0, onLeft: place.1 == .right)
            }
            return cells.joined(separator: "  ").trimmingTrailingSpaces
        }
    }
}

extension String {
    fileprivate var trimmingTrailingSpaces: String {
        var text = self[...]
        while text.last == " " { text = text.dropLast() }
        return String(text)
    }
}
