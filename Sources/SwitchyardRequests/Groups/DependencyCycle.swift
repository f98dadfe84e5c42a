/// Looks for circles among dependencies, without recursion, so that long chains do no harm.
enum DependencyCycle {
    private enum Mark { case unseen, open, done }

    /// Looks for a circle.
    ///
    /// - Parameter dependencies: The positions that each position depends on.
    /// - Returns: Positions of which each depends on the next and the last on the first; `nil` when there are none.
    static func find(in dependencies: [Set<Int>]) -> [Int]? {
        var marks = [Mark](repeating: .unseen, count: dependencies.count)
        for start in dependencies.indices where marks[start] == .unseen {
            var path: [(position: Int, rest: [Int])] = [(start, dependencies[start].sorted())]
            marks[start] = .open
            while let next = path.last?.rest.last {
                path[path.count - 1].rest.removeLast()
                switch marks[next] {
                case .done: break
                case .open: return circle(in: path.map(\.position), from: next)
                case .unseen:
                    marks[next] = .open
                    path.append((next, dependencies[next].sorted()))
                }
                while let last = path.last, last.rest.isEmpty {
                    marks[last.position] = .done
                    path.removeLast()
                }
            }
            marks[start] = .done
        }
        return nil
    }

    private static func circle(in path: [Int], from start: Int) -> [Int] {
        Array(path[(path.firstIndex(of: start) ?? 0)...])
    }
}
