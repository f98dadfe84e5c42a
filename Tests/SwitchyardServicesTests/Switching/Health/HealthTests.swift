import Testing

@testable import SwitchyardServices

@Suite struct AttemptBudgetTests {
    @Test func `successes earn back the tokens that a budget has spent`() {
        var budget = AttemptBudget(tokens: 2, gap: 5, at: 0)

        let taken = (0..<3).map { _ in budget.take(1) }
        for _ in 0..<11 { budget.add(0.1, capacity: 2) }
        let isEarned = budget.take(1)

        #expect(taken == [true, true, false])
        #expect(isEarned)
    }

    @Test func `without successes, the tokens of a budget return at doubling intervals`() {
        var budget = AttemptBudget(tokens: 0, gap: 5, at: 0)

        var times: [Int] = []
        for second in 0..<200 {
            budget.refill(to: Double(second), capacity: 10, longest: 60)
            if budget.take(1) { times.append(second) }
        }

        #expect(times == [5, 15, 35, 75, 135, 195])
    }

    @Test func `a token interval below the clock's resolution fills the budget and causes no endless loop`() {
        var budget = AttemptBudget(tokens: 0, gap: 1e-18, at: 100_000)

        budget.refill(to: 100_001, capacity: 10, longest: 1e-18)

        #expect(budget.tokens == 10)
    }

    @Test func `a long sleep of the machine fills the token budget`() {
        var budget = AttemptBudget(tokens: 0, gap: 5, at: 0)

        budget.refill(to: 1e15, capacity: 10, longest: 60)

        #expect(budget.tokens == 10)
    }
}

@Suite struct AdmissionShareTests {
    private let rules = CompiledPolicy(.recommended)

    @Test func `an overload halves a server's admission share, and a success raises it by a small step`() {
        var admission = AdmissionShare()
        admission.cut(by: 0.5, at: 0, floor: 0.1, rules)
        admission.cut(by: 0.5, at: 0, floor: 0.1, rules)
        #expect(admission.share == 0.25)

        admission.raise(at: 0, step: 0.02, rules)

        #expect(abs(admission.share - 0.27) < 1e-9)
    }

    @Test func `another overload cuts an admission share from the value to which it has recovered`() {
        var admission = AdmissionShare()
        admission.cut(by: 0.25, at: 0, floor: 0.1, rules)
        #expect(abs(admission.present(at: 60, rules) - 0.5) < 1e-9)

        admission.cut(by: 0.5, at: 60, floor: 0.1, rules)

        #expect(abs(admission.share - 0.25) < 1e-9)
    }

    @Test func `an admission share never falls below its floor, and it recovers with time`() {
        var admission = AdmissionShare()
        for _ in 0..<20 { admission.cut(by: 0.25, at: 0, floor: 0.1, rules) }

        #expect(admission.share == 0.1)
        #expect(abs(admission.present(at: 60, rules) - 0.2) < 1e-9)
        #expect(admission.present(at: 121, rules) == 1)
        #expect(!admission.isClean(at: 30, rules))
        #expect(admission.isClean(at: 31, rules))
    }
}

@Suite struct ServerSetTests {
    @Test func `a set of servers ignores invalid positions`() {
        var set: ServerSet = [0, 63]

        set.insert(64)
        set.insert(-1)
        set.insert(.max)
        set.remove(0)

        #expect(set == [63])
        #expect(set.count == 1 && !set.isEmpty)
        #expect(!set.contains(.min))
    }
}
