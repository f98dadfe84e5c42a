import Foundation

/// A table in plain text whose columns are as wide as their widest cells.
struct TextTable {
    /// The alignment of a column's cells.
    enum Alignment: Sendable {
        /// Left-aligned, with a minimum width in columns, so that the layout does not change when the table is redrawn.
        case left(Int)
        /// Right-aligned, with a minimum width in columns.
        case right(Int)

        static let left = Alignment.left(0)
        static let right = Alignment.right(0)

        fileprivate var leastWidth: Int {
            switch self {
            case .left(let width), .right(let width): width
            }
        }

        fileprivate var isRight: Bool {
            if case .right = self { true } else { false }
        }
    }

    private let alignments: [Alignment]
    private var rows: [[String]]

    /// Creates a table with a heading for each column.
    init(_ columns: KeyValuePairs<String, Alignment>) {
        alignments = columns.map(\.value)
        rows = [columns.map(\.key)]
    }

    /// Adds a row.
    ///
    /// The cells may contain styles.
    mutating func add(_ cells: [String]) {
        rows.append(cells)
    }

    /// Returns the lines of the table, in which the text of the last column is wrapped to this number of columns.
    ///
    /// The heading is the first line. If less than 20 columns are left for the last column, its text is not wrapped.
    func lines(_ limit: Int) -> [String] {
        guard let head = lines.first, let last = rows.first?.last, let start = head.range(of: last, options: .backwards)
        else { return lines }
        let indent = head.distance(from: head.startIndex, to: start.lowerBound)
        guard limit - indent >= 20 else { return lines }
        let margin = String(repeating: " ", count: indent)
        return zip(lines, rows).flatMap { (line: String, row: [String]) -> [String] in
            let cell = row.last ?? ""
            let text = cell.wrapped(to: limit - indent, indent: 0)
            let first = String(line.dropLast(cell.count)) + (text.first ?? "")
            return [first] + text.dropFirst().map { margin + $0 }
        }
    }

    /// The lines of the table.
    ///
    /// The heading is the first line.
    var lines: [String] {
        let widths = alignments.indices.map { column in
            rows.reduce(alignments[column].leastWidth) { width, row in
                max(width, column < row.count ? row[column].columns : 0)
            }
        }
        return rows.map { row in
            let cells = zip(row, zip(widths, alignments)).map { cell, place in
                cell.padded(to: place.0, onLeft: place.1.isRight)
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
